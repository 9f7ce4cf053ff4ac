/* Writes the DCCP packets of one port that cross network interfaces to pcap files, one a device,
 * and counts them.
 *
 * usage: capture PORT DEVICE=FILE...     (port 0: of every port; file -: count only)
 *
 * Prints "ready" once it captures; on SIGTERM it writes what is there, prints its counts as a JSON
 * line a device, and ends. It reads through a ring: in a guest each system call is dear. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RING = 8 << 20, FRAME = 2048, COUNT_FRAME = 256, MAX_DEVICES = 4 };
enum { DCCP = 33, LINKTYPE_ETHERNET = 1 };
enum { TYPE_DATA = 2, TYPE_DATA_ACK = 4 };

static struct device {
  int fd;
  uint8_t* ring;
  unsigned next, frame, frames; /* of the ring */
  FILE* file;                   /* null: count only */
  const char* name;
  /* [0] that the device received, [1] that it sent */
  unsigned long packets[2], data[2], data_bytes[2];
} devices[MAX_DEVICES];
static int port;
static volatile sig_atomic_t stop;

static void on_signal(int number) {
  (void)number;
  stop = 1;
}

static void fail(const char* what) {
  fprintf(stderr, "capture: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void put(FILE* file, const void* data, size_t size) {
  if (fwrite(data, size, 1, file) != 1) fail("write");
}

static void open_device(struct device* d, char* argument) {
  char* path = strchr(argument, '=');
  if (path == NULL) {
    fprintf(stderr, "usage: capture PORT DEVICE=FILE...\n");
    exit(2);
  }
  *path++ = '\0';
  d->name = argument;
  d->fd = socket(AF_PACKET, SOCK_RAW, 0);
  if (d->fd < 0) fail("socket");
  int version = TPACKET_V2;
  if (setsockopt(d->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0)
    fail("PACKET_VERSION");
  /* Headers are enough for counting, and many more of them fit. */
  d->frame = strcmp(path, "-") == 0 ? COUNT_FRAME : FRAME;
  d->frames = RING / d->frame;
  struct tpacket_req ring = {.tp_block_size = 1 << 18,
                             .tp_block_nr = RING >> 18,
                             .tp_frame_size = d->frame,
                             .tp_frame_nr = d->frames};
  if (setsockopt(d->fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof ring) != 0)
    fail("PACKET_RX_RING");
  d->ring = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, 0);
  if (d->ring == MAP_FAILED) fail("mmap");
  struct sockaddr_ll where = {.sll_family = AF_PACKET,
                              .sll_protocol = htons(ETH_P_ALL),
                              .sll_ifindex = (int)if_nametoindex(argument)};
  if (where.sll_ifindex == 0) fail(argument);
  if (bind(d->fd, (struct sockaddr*)&where, sizeof where) != 0) fail("bind");
  if (strcmp(path, "-") == 0) return;
  d->file = fopen(path, "wb");
  if (d->file == NULL) fail(path);
  struct {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t zone, accuracy, snap, link;
  } header = {0xa1b23c4d, 2, 4, 0, 0, 65535, LINKTYPE_ETHERNET}; /* nanoseconds */
  put(d->file, &header, sizeof header);
}

static uint16_t word(const uint8_t* p) { return (uint16_t)(p[0] << 8 | p[1]); }

/* The offset of the DCCP header in a frame, 0 where there is none that is wanted. */
static unsigned dccp_header(const uint8_t* frame, unsigned size) {
  unsigned header = 0;
  if (size < 34) return 0;
  if (word(frame + 12) == ETH_P_IP && frame[14 + 9] == DCCP)
    header = 14 + (frame[14] & 15u) * 4;
  else if (word(frame + 12) == ETH_P_IPV6 && frame[14 + 6] == DCCP)
    header = 14 + 40;
  if (header == 0 || header + 12 > size) return 0;
  return port == 0 || word(frame + header) == port || word(frame + header + 2) == port ? header : 0;
}

static void count(struct device* d, const uint8_t* frame, unsigned header, int sent) {
  unsigned ip = word(frame + 12) == ETH_P_IP ? word(frame + 16) - (header - 14u) : word(frame + 18);
  unsigned type = frame[header + 8] >> 1 & 15, offset = frame[header + 4] * 4u;
  ++d->packets[sent];
  if (type != TYPE_DATA && type != TYPE_DATA_ACK) return;
  ++d->data[sent];
  if (ip > offset) d->data_bytes[sent] += ip - offset;
}

static void drain(struct device* d) {
  for (;;) {
    struct tpacket2_hdr* frame = (struct tpacket2_hdr*)(d->ring + (size_t)d->next * d->frame);
    if (!(__atomic_load_n(&frame->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) return;
    const uint8_t* data = (const uint8_t*)frame + frame->tp_mac;
    const struct sockaddr_ll* from =
        (const struct sockaddr_ll*)((const uint8_t*)frame +
                                    TPACKET_ALIGN(sizeof(struct tpacket2_hdr)));
    unsigned header = dccp_header(data, frame->tp_snaplen);
    if (header != 0) {
      count(d, data, header, from->sll_pkttype == PACKET_OUTGOING);
      if (d->file != NULL) {
        const uint32_t record[4] = {frame->tp_sec, frame->tp_nsec, frame->tp_snaplen,
                                    frame->tp_len};
        put(d->file, record, sizeof record);
        put(d->file, data, frame->tp_snaplen);
      }
    }
    __atomic_store_n(&frame->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    d->next = (d->next + 1) % d->frames;
  }
}

static void report(const struct device* d) {
  struct tpacket_stats stats = {0, 0};
  socklen_t size = sizeof stats;
  getsockopt(d->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size);
  printf("{\"device\":\"%s\",\"missed\":%u", d->name, stats.tp_drops);
  for (int sent = 0; sent < 2; ++sent)
    printf(",\"%s\":{\"packets\":%lu,\"data\":%lu,\"data_bytes\":%lu}", sent ? "out" : "in",
           d->packets[sent], d->data[sent], d->data_bytes[sent]);
  puts("}");
}

int main(int argc, char** argv) {
  int count = argc - 2;
  if (count < 1 || count > MAX_DEVICES) {
    fprintf(stderr, "usage: capture PORT DEVICE=FILE...\n");
    return 2;
  }
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  port = atoi(argv[1]);
  struct pollfd wait[MAX_DEVICES];
  for (int i = 0; i < count; ++i) {
    open_device(&devices[i], argv[i + 2]);
    wait[i] = (struct pollfd){.fd = devices[i].fd, .events = POLLIN};
  }
  puts("ready");
  fflush(stdout);
  while (!stop) {
    poll(wait, (nfds_t)count, 1000);
    for (int i = 0; i < count; ++i) drain(&devices[i]);
    usleep(5000); /* many packets a wake-up */
  }
  for (int i = 0; i < count; ++i) {
    drain(&devices[i]);
    report(&devices[i]);
    if (devices[i].file != NULL && fclose(devices[i].file) != 0) fail("close");
  }
  return 0;
}
