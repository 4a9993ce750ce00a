"""`make bench`: kernels against reading the data once, planning against its limits, accuracy of the defaults."""

from benchmarks import accuracy, kernels, planning

if __name__ == "__main__":
    for part in (kernels, planning, accuracy):
        part.main()
        print()
