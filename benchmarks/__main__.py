"""`make bench`: kernels against reading the data once, and planning against its limits."""

from benchmarks import kernels, planning

if __name__ == "__main__":
    for part in (kernels, planning):
        part.main()
        print()
