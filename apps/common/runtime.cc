#include "apps/common/runtime.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "dccp/ccid2.h"
#include "dccp/ccid3.h"
#include "dccp/ccid4.h"
#include "stack/trace/byte_writer.h"
#include "stack/trace/jsonl_sink.h"
#include "stack/trace/pcap_sink.h"

namespace dccp::apps {

namespace {

// From the driver's clock (CLOCK_MONOTONIC) to the time of day.
Duration EpochOffset() {
  const Duration wall = std::chrono::system_clock::now().time_since_epoch();
  const Duration steady = std::chrono::steady_clock::now().time_since_epoch();
  return wall - steady;
}

// What a program can speak.
struct ToolCcids {
  explicit ToolCcids(const Ccid2Options& options) : ccid2(options) {
    registry.Add(ccid2);
    registry.Add(ccid3);
    registry.Add(ccid4);
  }
  Ccid2Factory ccid2;
  Ccid3Factory ccid3;
  Ccid4Factory ccid4;
  CcidRegistry registry;
};

}  // namespace

const CcidRegistry& ToolRegistry(Pacing pacing) {
  static const ToolCcids in_bursts({.pacing = false});
  static const ToolCcids paced({.pacing = true});
  return pacing == Pacing::kOn ? paced.registry : in_bursts.registry;
}

// The files of --trace and --events, and a sink that feeds both.
class Runtime::Traces final : public TraceSink {
 public:
  bool Open(const CommonOptions& options, std::string* error) {
    if (!options.trace_file.empty()) {
      if (!OpenFile(options.trace_file, error)) return false;
      sinks_.push_back(std::make_unique<PcapSink>(*files_.back().writer, EpochOffset()));
    }
    if (!options.events_file.empty()) {
      if (!OpenFile(options.events_file, error)) return false;
      sinks_.push_back(std::make_unique<JsonlSink>(*files_.back().writer));
    }
    return true;
  }

  TraceSink* sink() {
    if (sinks_.empty()) return nullptr;
    return sinks_.size() == 1 ? sinks_[0].get() : this;
  }

  bool Finish(std::string* error) {
    for (File& file : files_) {
      if (file.writer->Flush()) continue;
      *error = fmt::format("cannot write {}: {}", file.path, ErrnoText(file.writer->error()));
      return false;
    }
    return true;
  }

  void OnPacket(const PacketEvent& e) override {
    for (auto& sink : sinks_) sink->OnPacket(e);
  }
  void OnDrop(const DropEvent& e) override {
    for (auto& sink : sinks_) sink->OnDrop(e);
  }
  void OnState(const StateEvent& e) override {
    for (auto& sink : sinks_) sink->OnState(e);
  }
  void OnFeature(const FeatureEvent& e) override {
    for (auto& sink : sinks_) sink->OnFeature(e);
  }
  void OnCc(const CcEvent& e) override {
    for (auto& sink : sinks_) sink->OnCc(e);
  }

 private:
  struct File {
    std::string path;
    std::unique_ptr<FileWriter> writer;
  };

  bool OpenFile(const std::string& path, std::string* error) {
    auto writer = std::make_unique<FileWriter>(path);
    if (!writer->ok()) {
      *error = fmt::format("cannot write {}: {}", path, ErrnoText(writer->error()));
      return false;
    }
    files_.push_back({path, std::move(writer)});
    return true;
  }

  std::vector<File> files_;
  std::vector<std::unique_ptr<TraceSink>> sinks_;
};

Runtime::Runtime() : traces_(std::make_unique<Traces>()) { uv_loop_init(&loop_); }

std::unique_ptr<Runtime> Runtime::Create(const CommonOptions& options, std::string* error) {
  std::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<Runtime> runtime(new Runtime);
  if (!runtime->traces_->Open(options, error)) return nullptr;
  UvDriverConfig config;
  config.endpoint.encapsulation = options.encap;
  config.endpoint.registry = &ToolRegistry(options.pacing ? Pacing::kOn : Pacing::kOff);
  config.tun_device = options.tun;
  config.endpoint.trace = runtime->traces_->sink();
  DriverError fault;
  runtime->driver_ = UvDriver::Create(&runtime->loop_, config, &fault);
  if (runtime->driver_ == nullptr) {
    *error = DescribeDriverError(fault, options);
    return nullptr;
  }
  runtime->StartSignals();
  return runtime;
}

Runtime::~Runtime() {
  for (uv_signal_t& signal : signals_)
    if (signal.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&signal), nullptr);
  driver_.reset();
  uv_run(&loop_, UV_RUN_DEFAULT);  // closes the handles
  uv_loop_close(&loop_);
}

bool Runtime::StartSignals() {
  const int numbers[] = {SIGINT, SIGTERM};
  for (int i = 0; i < 2; ++i) {
    if (uv_signal_init(&loop_, &signals_[i]) != 0) return false;
    signals_[i].data = this;
    uv_signal_start(
        &signals_[i],
        [](uv_signal_t* signal, int) { static_cast<Runtime*>(signal->data)->OnSignal(); },
        numbers[i]);
    uv_unref(reinterpret_cast<uv_handle_t*>(&signals_[i]));
  }
  return true;
}

void Runtime::OnSignal() {
  if (interrupted_) _exit(kExitFailed);
  interrupted_ = true;
  if (on_interrupt_) on_interrupt_();
}

void Runtime::Run() {
  driver_->Ref();
  uv_run(&loop_, UV_RUN_DEFAULT);
  driver_->Unref();
}

bool Runtime::FinishTraces(std::string* error) { return traces_->Finish(error); }

std::string DescribeDriverError(const DriverError& error, const CommonOptions& options) {
  const int code = error.errno_value;
  if (!options.tun.empty() && (code == ENODEV || code == ENETDOWN))
    return fmt::format(
        "--tun: {} {}; 'ip tuntap add dev {} mode tun user $USER', then 'ip link set {} up'",
        options.tun, code == ENODEV ? "is no TUN device" : "is down", options.tun, options.tun);
  if (!options.tun.empty() && (code == EPERM || code == EACCES))
    return fmt::format(
        "--tun: {} is not yours (no 'user' was given when it was made), and there is "
        "no CAP_NET_ADMIN",
        options.tun);
  if (!options.tun.empty() && code != 0)
    return fmt::format("--tun: {}: {}", error.what, ErrnoText(code));
  if (code == EADDRINUSE && options.encap == Encapsulation::kNative)
    return "this kernel speaks DCCP itself and would answer as well: unload its module with "
           "'modprobe -r dccp_ipv4 dccp_ipv6 dccp', go through a TUN device with --tun, or use "
           "--encap udp";
  if ((code == EPERM || code == EACCES) && options.encap == Encapsulation::kNative)
    return "native DCCP needs CAP_NET_RAW: run as root, or give the program the capability with "
           "'setcap cap_net_raw+ep FILE', or use --encap udp";
  if (code == EADDRINUSE)
    return fmt::format("UDP port {} is in use ({}); choose another with --udp-port",
                       options.udp_port, error.what);
  if (code == ENETUNREACH || code == EHOSTUNREACH)
    return fmt::format("no route to the host: {}: {}", error.what, ErrnoText(code));
  if (code == EADDRNOTAVAIL && options.has_bind)
    return fmt::format("--bind: {} is no address of this host", options.bind_text);
  if (code != 0) return fmt::format("{}: {}", error.what, ErrnoText(code));
  return fmt::format("{}: {}", error.what, ToString(error.error));
}

}  // namespace dccp::apps
