/* The first process of a stock kernel under qemu: loads the modules that came with it, in their
 * order, makes the host's file system (9p) the root, and goes on with the program that init= names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void say(const char* what) {
  int console = open("/dev/console", O_WRONLY);
  dprintf(console < 0 ? 2 : console, "boot: %s: %s\n", what, strerror(errno));
  if (console >= 0) close(console);
}

static _Noreturn void fail(const char* what) {
  say(what);
  for (;;) pause(); /* its end would be a panic, which hides the message */
}

static void load_modules(void) {
  char name[256];
  FILE* order = fopen("/modules/order", "r");
  if (order == NULL) fail("/modules/order");
  while (fgets(name, sizeof name, order) != NULL) {
    name[strcspn(name, "\n")] = '\0';
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || syscall(SYS_finit_module, fd, "", 0) != 0) say(name);
    if (fd >= 0) close(fd);
  }
  fclose(order);
}

/* The value of a parameter of the kernel's command line. */
static const char* parameter(const char* name) {
  static char line[4096];
  int fd = open("/proc/cmdline", O_RDONLY);
  ssize_t size = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
  if (fd >= 0) close(fd);
  line[size < 0 ? 0 : size] = '\0';
  for (char* word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n"))
    if (strncmp(word, name, strlen(name)) == 0) return word + strlen(name);
  return NULL;
}

int main(void) {
  mkdir("/dev", 0755);
  mkdir("/proc", 0755);
  mkdir("/root", 0755);
  mount("devtmpfs", "/dev", "devtmpfs", 0, "");
  if (mount("proc", "/proc", "proc", 0, "") != 0) fail("/proc");
  load_modules();
  const char* program = parameter("init=");
  if (program == NULL) fail("no init=");
  umount("/proc");
  umount("/dev");
  const char* options = "trans=virtio,version=9p2000.L,msize=262144,cache=loose";
  if (mount("root", "/root", "9p", MS_RDONLY, options) != 0) fail("the host's file system");
  if (chdir("/root") != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 ||
      chdir("/") != 0)
    fail("the new root");
  execl(program, program, (char*)NULL);
  fail(program);
}
