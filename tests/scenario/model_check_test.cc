// Set-up and teardown, explored exhaustively: two real endpoints through every interleaving of
// delivery, loss, duplication, reordering, timers and the applications' calls up to a bounded
// depth. From every state reached, a fair network must bring both ends to an agreement and then to
// an end. UDCCP_MODEL_DEPTH sets another depth: UDCCP_MODEL_DEPTH=12 ./dev test -R ModelCheck

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/scenario/model_explorer.h"
#include "tests/scenario/test_effort.h"

namespace dccp {
namespace {

using std::chrono::seconds;

ConnectionOptions Plain() {
  ConnectionOptions options;
  options.user_timeout = seconds(30);
  return options;
}

void ExpectNoFault(ModelScenario scenario) {
  if (kEffortDivisor > 1) --scenario.depth;
  if (const char* depth = std::getenv("UDCCP_MODEL_DEPTH"))
    scenario.depth = static_cast<std::size_t>(std::atoi(depth));
  const ModelResult result = Explore(scenario);
  std::cout << "[ explored ] " << scenario.name << ": " << result.states << " states, "
            << result.transitions << " transitions, depth " << result.depth << "\n";
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.depth, scenario.depth);
  ::testing::Test::RecordProperty("states", static_cast<int>(result.states));
}

TEST(ModelCheck, R4340_EVT_00_CON_13_TheClientCloses) {
  ModelScenario scenario{.name = "client closes", .client = Plain(), .server = Plain()};
  scenario.client_actions = {ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_EVT_00_CLS_01_TheServerAsksForTheClose) {
  ModelScenario scenario{.name = "server closes", .client = Plain(), .server = Plain()};
  scenario.server_actions = {ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_CLS_01_TheServerClosesAndHoldsTimeWait) {
  ModelScenario scenario{.name = "server holds TIMEWAIT", .client = Plain(), .server = Plain()};
  scenario.server.server_timewait = true;
  scenario.server_actions = {ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_CLS_06_BothCloseAtOnce) {
  ModelScenario scenario{.name = "both close", .client = Plain(), .server = Plain()};
  scenario.server.server_timewait = true;
  scenario.client_actions = scenario.server_actions = {ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_CLS_09_TheClientAborts) {
  ModelScenario scenario{.name = "client aborts", .client = Plain(), .server = Plain()};
  scenario.client_actions = {ModelAction::kAbort};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_XFER_01_DataBothWays) {
  ModelScenario scenario{.name = "data both ways", .client = Plain(), .server = Plain()};
  scenario.client_actions = {ModelAction::kSend, ModelAction::kClose};
  scenario.server_actions = {ModelAction::kSend};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_EVT_21_FN_12_FN_19_FeaturesOfferedByBoth) {
  ModelScenario scenario{.name = "features", .client = Plain(), .server = Plain()};
  constexpr CcidId kSecond = SecondCcidFactory::kId;
  scenario.client.tx_ccids = scenario.server.rx_ccids = {CcidId::k2, kSecond};
  scenario.client.rx_ccids = {CcidId::k2, kSecond};
  scenario.server.tx_ccids = {kSecond, CcidId::k2};
  scenario.client.sequence_window = 200;
  scenario.server.sequence_window = 300;
  scenario.client.send_ndp_count = scenario.server.send_ndp_count = true;
  scenario.client.ack_ratio = 3;
  scenario.client_actions = {ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_EVT_00_COOK_02_COOK_05_TheServerKeepsNoStateBeforeItIsOpen) {
  ModelScenario scenario{.name = "cookies", .client = Plain(), .server = Plain(), .cookies = true};
  scenario.client_actions = {ModelAction::kSend, ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_COOK_05_WithCookiesTheServerCloses) {
  ModelScenario scenario{
      .name = "cookies, server closes", .client = Plain(), .server = Plain(), .cookies = true};
  scenario.server_actions = {ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_COOK_05_WithCookiesTheClientAborts) {
  ModelScenario scenario{
      .name = "cookies, client aborts", .client = Plain(), .server = Plain(), .cookies = true};
  scenario.client_actions = {ModelAction::kAbort};
  ExpectNoFault(scenario);
}

// The same ends with all choices left for them.
ModelScenario FromOpen(const char* name) {
  return {.name = name, .client = Plain(), .server = Plain(), .begin_open = true};
}

TEST(ModelCheck, R4340_CLS_03_CLS_10_TheClientClosesAnOpenConnection) {
  ModelScenario scenario = FromOpen("open, client closes");
  scenario.client_actions = {ModelAction::kSend, ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_CLS_07_TheServerEndsAnOpenConnection) {
  ModelScenario scenario = FromOpen("open, server closes");
  scenario.server_actions = {ModelAction::kSend, ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_CLS_06_CloseMeetsCloseReq) {
  ModelScenario scenario = FromOpen("open, both close");
  scenario.client_actions = scenario.server_actions = {ModelAction::kClose};
  ExpectNoFault(scenario);
}

TEST(ModelCheck, R4340_CLS_09_AnOpenConnectionIsAborted) {
  ModelScenario scenario = FromOpen("open, client closes while the server aborts");
  scenario.client_actions = {ModelAction::kClose};
  scenario.server_actions = {ModelAction::kAbort};
  ExpectNoFault(scenario);
}

// The check itself: without a user timeout a client that goes away leaves its server behind if the
// Reset is lost, and no choice of fewer steps does.
TEST(ModelCheck, FindsAPairThatIsStuck) {
  ModelScenario scenario{.name = "no user timeout"};
  scenario.client_actions = {ModelAction::kAbort};
  const ModelResult result = Explore(scenario);
  EXPECT_NE(result.fault.find("only one end is open"), std::string::npos) << result.fault;
  EXPECT_NE(result.fault.find("lose Reset"), std::string::npos) << result.fault;
}

}  // namespace
}  // namespace dccp
