"""What a file says by itself: its unit, the conditions of its `#if`, what libclang answers about it."""
