#include "apps/common/control.h"

#include <array>
#include <string_view>
#include <utility>

namespace dccp::apps {

namespace {

using nlohmann::json;

constexpr Duration kRetry = std::chrono::milliseconds(250);
constexpr Duration kConnectTime = std::chrono::seconds(3);
constexpr int kMaxTries = 8;

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ControlClient::ControlClient(Runtime* runtime, const ConnectParams& params)
    : runtime_(runtime), retry_(runtime->loop()) {
  ConnectParams control = params;
  control.local_port = 0;
  control.service_code = *ServiceCode::Parse(kControlService);
  control.options.request_timeout = kConnectTime;
  const Result<ConnId> conn = runtime_->endpoint().Connect(control, runtime_->now());
  if (conn)
    conn_ = *conn;
  else
    state_ = State::kGone;
}

ControlClient::~ControlClient() { Close(); }

void ControlClient::Close() {
  if (conn_) {
    // Whether or not it could be closed, the handle goes back and the rest is the endpoint's.
    static_cast<void>(runtime_->endpoint().Close(*conn_, runtime_->now(), kRetry).ok());
    runtime_->endpoint().Release(*conn_, runtime_->now());
    conn_.reset();
  }
  state_ = State::kGone;
  FailAll();
}

void ControlClient::Ask(json question, Answered answered) {
  const std::uint64_t id = next_id_++;
  question["id"] = id;
  questions_.push_back({question.dump(), id, std::move(answered)});
  if (questions_.size() == 1) {
    tries_ = 0;
    Later();
  }
}

void ControlClient::Later() {
  retry_.Once(Duration::zero(), [this] { OnRetry(); });
}

void ControlClient::OnRetry() {
  if (questions_.empty()) return;
  if (state_ == State::kGone || ++tries_ > kMaxTries) {
    FailAll();
    return;
  }
  if (state_ == State::kOpen) SendFront();
  retry_.Once(kRetry, [this] { OnRetry(); });
}

void ControlClient::SendFront() {
  // A full queue or a closing connection is met by the next try.
  static_cast<void>(
      runtime_->endpoint().Send(*conn_, std::as_bytes(std::span(questions_.front().text))).ok());
}

void ControlClient::FailAll() {
  std::deque<Question> failed;
  failed.swap(questions_);
  retry_.Stop();
  for (Question& question : failed) question.answered(std::nullopt);
}

void ControlClient::OnEvent(const Event& event) {
  if ((event.bits & kEventConnected) != 0) {
    state_ = State::kOpen;
    tries_ = 0;
    if (!questions_.empty()) Later();
  }
  if ((event.bits & kEventReadable) != 0) {
    std::array<ReceivedDatagram, 8> batch;
    while (conn_) {
      const std::size_t n = runtime_->endpoint().Read(*conn_, batch);
      if (n == 0) break;
      for (std::size_t i = 0; i < n; ++i) OnAnswer(batch[i].bytes);
    }
  }
  if ((event.bits & kEventClosed) != 0) Close();
}

void ControlClient::OnAnswer(std::span<const std::byte> bytes) {
  const json answer = json::parse(AsText(bytes), nullptr, false);
  if (!answer.is_object() || questions_.empty()) return;
  const auto id = answer.find("id");
  if (id == answer.end() || !id->is_number_unsigned() || *id != questions_.front().id) return;
  const Question question = std::move(questions_.front());
  questions_.pop_front();
  retry_.Stop();
  tries_ = 0;
  if (!questions_.empty()) Later();
  question.answered(answer);
}

void AnswerControl(Endpoint* endpoint, ConnId conn,
                   const std::function<json(const json&, const FlowTuple&)>& answer) {
  const Result<ConnectionInfo> info = endpoint->Info(conn);
  if (!info) return;
  std::array<ReceivedDatagram, 8> batch;
  while (const std::size_t n = endpoint->Read(conn, batch)) {
    for (std::size_t i = 0; i < n; ++i) {
      if (batch[i].bytes.size() > kMaxControlBytes) continue;
      const json question = json::parse(AsText(batch[i].bytes), nullptr, false);
      if (!question.is_object() || !question.contains("id")) continue;
      json reply = answer(question, info->tuple);
      reply["id"] = question["id"];
      const std::string text = reply.dump();
      // A lost answer is asked for again.
      static_cast<void>(endpoint->Send(conn, std::as_bytes(std::span(text))).ok());
    }
  }
}

}  // namespace dccp::apps
