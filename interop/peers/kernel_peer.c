/* One end of an interop connection, on the kernel's DCCP sockets. peers/README.md has the options,
 * events and datagrams, which stack_peer shares. Static, for guests without a C library. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The numbers of the socket API, which no C library's header has. */
enum { SOCK_DCCP_TYPE = 6, IPPROTO_DCCP_NUMBER = 33, SOL_DCCP_LEVEL = 269 };
enum {
  OPT_SERVICE = 2,
  OPT_CUR_MPS = 5,
  OPT_SERVER_TIMEWAIT = 6,
  OPT_SEND_CSCOV = 10,
  OPT_RECV_CSCOV = 11,
  OPT_AVAILABLE_CCIDS = 12,
  OPT_CCID = 13,
  OPT_TX_CCID = 14,
  OPT_RX_CCID = 15,
  OPT_TXQLEN = 17
};

enum { MAX_DATAGRAM = 65536, HEADER = 12, MAX_INDEX = 1 << 24, END_COPIES = 3 };

static struct {
  int server, expect;
  const char *address, *port;
  uint8_t ccids[8];
  int ccid_count;
  uint32_t service;
  long send;      /* datagrams; -1: until `seconds` are over */
  int size;       /* 0: the maximum that the kernel names */
  double rate;    /* datagrams a second, 0: as fast as send() takes them */
  double seconds; /* of sending, with send -1 */
  double pause;   /* before the first datagram */
  double omit;    /* seconds at the start that the figures leave out */
  double wait;    /* longest silence before giving up */
  double connect_wait;
  double quiet; /* silence after which everything has arrived */
  int queue;    /* OPT_TXQLEN, -1: the kernel's default */
  int coverage; /* -1: unset */
  int timewait;
  int buffer;
} opt = {.service = 1,
         .send = 0,
         .size = 500,
         .wait = 20,
         .connect_wait = 30,
         .quiet = 0.3,
         .queue = -1,
         .coverage = -1};

static struct {
  uint64_t sent, bytes_sent, received, unique, duplicates, corrupt, bytes;
  uint64_t window_packets, window_bytes; /* after the first `omit` seconds */
  double first, last, window_first;
  int end_seen; /* end marks */
} got;
static uint8_t* seen;
static volatile sig_atomic_t close_wanted, abort_wanted, stop_wanted;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void event(const char* name, const char* format, ...) {
  va_list arguments;
  printf("{\"event\":\"%s\",\"at\":%.6f", name, now());
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("}\n");
  fflush(stdout);
}

static void end(const char* outcome, int error) {
  event("end",
        ",\"outcome\":\"%s\",\"errno\":\"%s\",\"sent\":%llu,\"bytes_sent\":%llu,\"received\":%llu,"
        "\"unique\":%llu,\"duplicates\":%llu,\"corrupt\":%llu,\"bytes\":%llu,"
        "\"end_marks\":%d,\"seconds\":%.6f,\"window_packets\":%llu,\"window_bytes\":%llu,"
        "\"window_seconds\":%.6f",
        outcome, error ? strerrorname_np(error) : "", (unsigned long long)got.sent,
        (unsigned long long)got.bytes_sent, (unsigned long long)got.received,
        (unsigned long long)got.unique, (unsigned long long)got.duplicates,
        (unsigned long long)got.corrupt, (unsigned long long)got.bytes, got.end_seen,
        got.last - got.first, (unsigned long long)got.window_packets,
        (unsigned long long)got.window_bytes,
        got.window_first > 0 ? got.last - got.window_first : 0.0);
}

static void fail(const char* what) {
  int error = errno;
  fprintf(stderr, "kernel_peer: %s: %s\n", what, strerror(error));
  end(what, error);
  exit(1);
}

static void on_signal(int number) {
  if (number == SIGUSR1) close_wanted = 1;
  if (number == SIGUSR2) abort_wanted = 1;
  if (number == SIGTERM) stop_wanted = 1;
}

static int integer_option(int fd, int name, int missing) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(fd, SOL_DCCP_LEVEL, name, &value, &length) == 0 ? value : missing;
}

static void set_option(int fd, int name, const void* value, socklen_t length, const char* what) {
  if (setsockopt(fd, SOL_DCCP_LEVEL, name, value, length) != 0) fail(what);
}

static int open_socket(int family) {
  int fd = socket(family, SOCK_DCCP_TYPE, IPPROTO_DCCP_NUMBER);
  if (fd < 0) fail("socket");
  int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (opt.buffer > 0) {
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &opt.buffer, sizeof opt.buffer);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &opt.buffer, sizeof opt.buffer);
  }
  uint32_t service = htonl(opt.service);
  set_option(fd, OPT_SERVICE, &service, sizeof service, "service");
  if (opt.ccid_count > 0) set_option(fd, OPT_CCID, opt.ccids, (socklen_t)opt.ccid_count, "ccids");
  if (opt.queue >= 0) set_option(fd, OPT_TXQLEN, &opt.queue, sizeof opt.queue, "queue");
  if (opt.coverage >= 0) {
    set_option(fd, OPT_SEND_CSCOV, &opt.coverage, sizeof opt.coverage, "send coverage");
    set_option(fd, OPT_RECV_CSCOV, &opt.coverage, sizeof opt.coverage, "receive coverage");
  }
  return fd;
}

static socklen_t parse_address(struct sockaddr_storage* out) {
  memset(out, 0, sizeof *out);
  struct sockaddr_in* v4 = (struct sockaddr_in*)out;
  struct sockaddr_in6* v6 = (struct sockaddr_in6*)out;
  if (inet_pton(AF_INET, opt.address, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons((uint16_t)atoi(opt.port));
    return sizeof *v4;
  }
  if (inet_pton(AF_INET6, opt.address, &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((uint16_t)atoi(opt.port));
    return sizeof *v6;
  }
  fprintf(stderr, "kernel_peer: %s is no address\n", opt.address);
  exit(2);
}

static uint8_t pattern(uint32_t index, int offset) {
  return (uint8_t)(index * 31u + (uint32_t)offset * 7u);
}

static void fill(uint8_t* data, int size, char type, uint32_t index) {
  uint32_t word = htonl(index);
  memcpy(data, "udcp", 4);
  memset(data + 4, 0, 4);
  data[4] = (uint8_t)type;
  memcpy(data + 8, &word, 4);
  for (int i = HEADER; i < size; ++i) data[i] = pattern(index, i);
}

static void account(const uint8_t* data, ssize_t size) {
  uint32_t index = 0;
  if (size < HEADER || memcmp(data, "udcp", 4) != 0) {
    ++got.corrupt;
    return;
  }
  memcpy(&index, data + 8, 4);
  index = ntohl(index);
  for (ssize_t i = HEADER; i < size; ++i)
    if (data[i] != pattern(index, (int)i)) {
      ++got.corrupt;
      return;
    }
  if (data[4] == 'E') {
    ++got.end_seen;
    return;
  }
  double t = now();
  if (got.received++ == 0) got.first = t;
  got.last = t;
  got.bytes += (uint64_t)size;
  if (t - got.first >= opt.omit) {
    if (got.window_packets++ == 0)
      got.window_first = t;
    else
      got.window_bytes += (uint64_t)size;
  }
  index %= MAX_INDEX;
  if (seen[index / 8] >> index % 8 & 1) {
    ++got.duplicates;
  } else {
    seen[index / 8] |= (uint8_t)(1u << index % 8);
    ++got.unique;
  }
}

static int accept_one(const struct sockaddr_storage* address, socklen_t length) {
  int listener = open_socket(address->ss_family);
  if (bind(listener, (const struct sockaddr*)address, length) != 0) fail("bind");
  if (listen(listener, 4) != 0) fail("listen");
  event("listening", "");
  struct pollfd wait = {.fd = listener, .events = POLLIN};
  double until = now() + opt.connect_wait;
  while (!stop_wanted && now() < until) {
    if (poll(&wait, 1, 200) <= 0) continue;
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) fail("accept");
    close(listener);
    return fd;
  }
  close(listener);
  end("nobody", 0);
  exit(3);
}

static int connect_one(const struct sockaddr_storage* address, socklen_t length) {
  int fd = open_socket(address->ss_family);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  if (connect(fd, (const struct sockaddr*)address, length) != 0 && errno != EINPROGRESS)
    fail("connect");
  struct pollfd wait = {.fd = fd, .events = POLLOUT};
  double until = now() + opt.connect_wait;
  while (!stop_wanted && now() < until) {
    if (poll(&wait, 1, 200) <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      errno = error;
      fail("connect");
    }
    return fd;
  }
  close(fd);
  end("connect timeout", 0);
  exit(3);
}

/* Reads what is there. 1: the peer has ended the connection. */
static int read_all(int fd, uint8_t* buffer, int* error, double* heard) {
  for (;;) {
    ssize_t size = recv(fd, buffer, MAX_DATAGRAM, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    if (size < 0) {
      *error = errno;
      return 1;
    }
    if (size == 0) { /* an empty datagram reads like the end */
      struct pollfd ended = {.fd = fd, .events = POLLRDHUP};
      if (poll(&ended, 1, 0) > 0 && (ended.revents & (POLLRDHUP | POLLHUP | POLLERR))) return 1;
      *heard = now();
      continue;
    }
    *heard = now();
    account(buffer, size);
  }
}

/* Sends what is due. Returns when it wants to be called again, in seconds; negative: all is sent.
 */
static double send_some(int fd, uint8_t* buffer, int size, double start, int* ends, int* error) {
  for (;;) {
    double t = now();
    int over = opt.send >= 0 ? (long)got.sent >= opt.send : t - start >= opt.seconds;
    if (over && *ends >= END_COPIES) return -1;
    if (t < start) return start - t;
    if (!over && opt.rate > 0) {
      double due = start + (double)got.sent / opt.rate;
      if (due > t) return due - t;
    }
    /* An end mark as small as a header would be a sudden fall of the rate in bytes, to which a
     * rate-based sender has to hold itself for seconds. */
    int length = !over ? size : size > HEADER ? size - 1 : HEADER;
    fill(buffer, length, over ? 'E' : 'D', (uint32_t)got.sent);
    ssize_t n = send(fd, buffer, (size_t)length, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0.001;
    if (n < 0) {
      *error = errno;
      return -1;
    }
    if (over) {
      ++*ends;
    } else {
      ++got.sent;
      got.bytes_sent += (uint64_t)length;
    }
  }
}

static void close_it(int fd, const char* outcome) {
  event("closing", "");
  if (opt.timewait && opt.server) {
    int one = 1;
    setsockopt(fd, SOL_DCCP_LEVEL, OPT_SERVER_TIMEWAIT, &one, sizeof one);
  }
  close(fd);
  end(outcome, 0);
}

static void abort_it(int fd) {
  struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close_it(fd, "aborted");
}

static void run(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  uint8_t *in = malloc(MAX_DATAGRAM), *out = malloc(MAX_DATAGRAM);
  int mps = integer_option(fd, OPT_CUR_MPS, 0);
  int size = opt.size > 0 ? opt.size : mps, ends = opt.send == 0 ? END_COPIES : 0, error = 0;
  event("connected", ",\"ccid_tx\":%d,\"ccid_rx\":%d,\"mps\":%d,\"size\":%d",
        integer_option(fd, OPT_TX_CCID, -1), integer_option(fd, OPT_RX_CCID, -1), mps, size);
  double heard = now(), start = heard + opt.pause, progress = start;
  uint64_t before = 0;
  int complete = 0;
  for (;;) {
    if (abort_wanted) {
      abort_it(fd);
      return;
    }
    if (close_wanted || stop_wanted) {
      read_all(fd, in, &error, &heard);
      close_it(fd, "closed");
      return;
    }
    double again = error == 0 ? send_some(fd, out, size, start, &ends, &error) : -1;
    if (got.sent != before) {
      before = got.sent;
      progress = now();
    }
    if (read_all(fd, in, &error, &heard)) {
      event("eof", ",\"errno\":\"%s\"", error ? strerrorname_np(error) : "");
      close(fd);
      end("eof", error);
      return;
    }
    if (error != 0) {
      event("broken", ",\"errno\":\"%s\"", strerrorname_np(error));
      close(fd);
      end("broken", error);
      return;
    }
    double t = now(), silent = t - (heard > progress ? heard : progress);
    int all = !opt.expect || got.end_seen;
    if (!complete && again < 0 && ((all && t - heard >= opt.quiet) || silent >= opt.wait / 2)) {
      complete = 1;
      event("complete", ",\"sent\":%llu,\"received\":%llu", (unsigned long long)got.sent,
            (unsigned long long)got.received);
    }
    if (silent >= opt.wait) {
      close_it(fd, "timeout");
      return;
    }
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    double pause = again >= 0 && again < 0.05 ? again : 0.05;
    struct timespec timeout = {.tv_sec = 0, .tv_nsec = (long)(pause * 1e9)};
    ppoll(&wait, 1, &timeout, NULL);
  }
}

static void print_info(void) {
  opt.ccid_count = 0;
  int fd = open_socket(AF_INET);
  uint8_t ccids[16];
  socklen_t length = sizeof ccids;
  if (getsockopt(fd, SOL_DCCP_LEVEL, OPT_AVAILABLE_CCIDS, ccids, &length) != 0) fail("ccids");
  printf("{\"event\":\"info\",\"ccids\":[");
  for (socklen_t i = 0; i < length; ++i) printf("%s%d", i ? "," : "", ccids[i]);
  printf("]}\n");
  close(fd);
}

static void parse(int argc, char** argv) {
  static const struct option names[] = {{"ccids", 1, 0, 'c'},
                                        {"service", 1, 0, 's'},
                                        {"send", 1, 0, 'n'},
                                        {"size", 1, 0, 'l'},
                                        {"rate", 1, 0, 'r'},
                                        {"seconds", 1, 0, 't'},
                                        {"omit", 1, 0, 'o'},
                                        {"pause", 1, 0, 'p'},
                                        {"wait", 1, 0, 'w'},
                                        {"connect-wait", 1, 0, 'W'},
                                        {"quiet", 1, 0, 'q'},
                                        {"expect", 0, 0, 'e'},
                                        {"queue", 1, 0, 'Q'},
                                        {"cscov", 1, 0, 'v'},
                                        {"timewait", 0, 0, 'T'},
                                        {"buffer", 1, 0, 'b'},
                                        {0, 0, 0, 0}};
  for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) switch (c) {
      case 'c':
        for (char* p = strtok(optarg, ","); p && opt.ccid_count < 8; p = strtok(NULL, ","))
          opt.ccids[opt.ccid_count++] = (uint8_t)atoi(p);
        break;
      case 's':
        opt.service = (uint32_t)strtoul(optarg, NULL, 0);
        break;
      case 'n':
        opt.send = atol(optarg);
        break;
      case 'l':
        opt.size = strcmp(optarg, "mps") == 0 ? 0 : atoi(optarg);
        break;
      case 'r':
        opt.rate = atof(optarg);
        break;
      case 't':
        opt.seconds = atof(optarg), opt.send = -1;
        break;
      case 'o':
        opt.omit = atof(optarg);
        break;
      case 'p':
        opt.pause = atof(optarg);
        break;
      case 'w':
        opt.wait = atof(optarg);
        break;
      case 'W':
        opt.connect_wait = atof(optarg);
        break;
      case 'q':
        opt.quiet = atof(optarg);
        break;
      case 'e':
        opt.expect = 1;
        break;
      case 'Q':
        opt.queue = atoi(optarg);
        break;
      case 'v':
        opt.coverage = atoi(optarg);
        break;
      case 'T':
        opt.timewait = 1;
        break;
      case 'b':
        opt.buffer = atoi(optarg);
        break;
      default:
        exit(2);
    }
  if (argc - optind == 1 && strcmp(argv[optind], "info") == 0) {
    print_info();
    exit(0);
  }
  if (argc - optind != 3 ||
      (strcmp(argv[optind], "listen") != 0 && strcmp(argv[optind], "connect") != 0)) {
    fprintf(stderr, "usage: kernel_peer [options] listen|connect ADDRESS PORT | info\n");
    exit(2);
  }
  opt.server = argv[optind][0] == 'l';
  opt.address = argv[optind + 1];
  opt.port = argv[optind + 2];
}

int main(int argc, char** argv) {
  parse(argc, argv);
  seen = calloc(MAX_INDEX / 8, 1);
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_storage address;
  socklen_t length = parse_address(&address);
  run(opt.server ? accept_one(&address, length) : connect_one(&address, length));
  return 0;
}
