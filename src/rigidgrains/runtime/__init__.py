"""What all kernels stand on: compilation, threads, memory, SIMD lanes; and checks of arguments."""
