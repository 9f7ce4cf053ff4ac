#!/usr/bin/env python3
"""Checks that an archive refers to no clock, socket, stdio, thread, environment or other library.

usage: symbols.py NM ARCHIVE
"""

import re
import subprocess
import sys

FORBIDDEN = re.compile(
    "|".join(
        [
            # sockets and files
            r"(socket|socketpair|bind|connect|listen|accept4?|send|sendto|sendmsg|sendmmsg)",
            r"(recv|recvfrom|recvmsg|recvmmsg|setsockopt|getsockopt|getaddrinfo|poll|select)",
            r"(epoll_\w+|eventfd|timerfd_\w+|ioctl|fcntl|openat?|openat?64|close|read|write)",
            r"(readv|writev|pread|pwrite|mmap|munmap)",
            # clocks and sleep
            r"(clock|clock_\w+|gettimeofday|time|nanosleep|usleep|sleep|localtime\w*|gmtime\w*)",
            r"std::chrono::.*::now\(.*",
            # stdio and streams
            r"(v?[fds]?n?printf|__v?[fds]?n?printf_chk|puts|fputs|fputc|putchar|perror)",
            r"(fopen|fopen64|fclose|fread|fwrite|fflush|fgets|stdin|stdout|stderr)",
            r"std::(cout|cerr|clog|cin|basic_[io]?f?stream.*|ios_base.*|__basic_file.*)",
            # environment, threads, randomness, exceptions
            r"(getenv|secure_getenv|setenv|environ|rand|srand|random|getrandom|getentropy)",
            r"(pthread_\w+|std::thread.*|std::mutex.*|std::condition_variable.*)",
            r"(std::random_device.*|__cxa_throw|__cxa_begin_catch)",
            # libraries
            r"(uv_\w+|SSL_\w+|EVP_\w+|RAND_\w+|HMAC\w*|fmt::.*)",
        ]
    )
)


def main():
    nm, archive = sys.argv[1:3]
    output = subprocess.run([nm, "-uC", archive], check=True, capture_output=True, text=True)
    symbols = set()
    for line in output.stdout.splitlines():
        match = re.match(r"\s+[Uwv] (.*)", line)
        if match:
            symbols.add(match.group(1).split("@")[0])
    if not symbols:
        print(f"{archive}: no undefined symbols found; is it an archive of objects?")
        return 2
    bad = sorted(s for s in symbols if FORBIDDEN.fullmatch(s))
    for symbol in bad:
        print(f"{archive}: refers to {symbol}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
