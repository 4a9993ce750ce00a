"""`make bench`: kernels against reading the data once, then accuracy of the defaults."""

from benchmarks import accuracy, kernels

if __name__ == "__main__":
    kernels.main()
    print()
    accuracy.main()
