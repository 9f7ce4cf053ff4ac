// A folder for the output of programs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace dccp::apps::lab {

// Gone with this object, and all that is in it. `path` is empty where it could not be made.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "dccp-lab-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dccp::apps::lab
