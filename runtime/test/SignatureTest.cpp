// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules that a runtime loads only if somebody it trusts has signed them.

#include "Loaded.h"
#include "SigningKey.h"
#include "TemporaryFolder.h"
#include "ashlar/runtime/ashlar.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace ashlar::test;
using ashlar::runtime::readPublicKey;
using ashlar::runtime::SigningKey;

namespace {

// RFC 8032, section 7.1: the keys of tests 1 and 2.
constexpr const char *privateKeys[] = {
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7"};
constexpr const char *publicKeys[] = {
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="};

std::string pem(const std::string &kind, const std::string &text) {
  return "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind +
         "-----\n";
}

ModuleBytes changed(const ModuleBytes &bytes, size_t at) {
  ModuleBytes made = bytes;
  made.data()[at] ^= 1;
  return made;
}

class Signed : public testing::Test {
protected:
  void SetUp() override {
    for (int i = 0; i < 2; ++i) {
      folder.write(std::to_string(i) + ".pem",
                   pem("PRIVATE KEY", privateKeys[i]));
      folder.write(std::to_string(i) + ".pub",
                   pem("PUBLIC KEY", publicKeys[i]));
      ASSERT_EQ(readPublicKey(at(std::to_string(i) + ".pub"), keys[i]), "");
      ASSERT_EQ(keys[i].size(), size_t(ASHLAR_SIGNATURE_KEY_BYTES));
    }
    runtime = trust(keys[0]);
  }
  void TearDown() override { ashlar_runtime_release(runtime); }
  std::string at(const std::string &name) const {
    return folder.path + "/" + name;
  }
  static ashlar_runtime_t *trust(const std::string &trusted) {
    ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
    options.signature_keys = trusted.data();
    options.signature_key_count = trusted.size() / ASHLAR_SIGNATURE_KEY_BYTES;
    ashlar_runtime_t *made = nullptr;
    EXPECT_CODE(ASHLAR_OK, ashlar_runtime_create(&options, &made));
    return made;
  }
  /// The sample, signed with key i.
  ModuleBytes signedModule(int i = 0) {
    ModuleBytes plain = sampleModule().build();
    uint64_t size = plain.size() + sizeof(ashlar_module_signature_t);
    std::memcpy(plain.data() + offsetof(ashlar_module_header_t, file_size),
                &size, sizeof(size));
    writeFile(at("signed.ash"), plain);
    SigningKey key;
    EXPECT_EQ(key.read(at(std::to_string(i) + ".pem")), "");
    int file = open(at("signed.ash").c_str(), O_RDWR);
    EXPECT_EQ(key.sign(file, plain.size()), "");
    close(file);
    std::string text = folder.read("signed.ash");
    EXPECT_EQ(text.size(), size);
    ModuleBytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
  }
  ashlar_status_t load(const ModuleBytes &bytes) {
    ashlar_load_options_t options = trusting();
    ashlar_module_t *module = nullptr;
    ashlar_status_t status = ashlar_module_load_memory(
        runtime, bytes.data(), bytes.size(), &options, &module);
    EXPECT_EQ(status.code == ASHLAR_OK, module != nullptr);
    ashlar_module_release(module);
    return status;
  }
  void expectRefused(const ModuleBytes &bytes, ashlar_status_code_t code,
                     const char *words) {
    ashlar_status_t status = load(bytes);
    expectSays(status, code, words);
    EXPECT_STREQ(status.place, "signature");
  }

  TemporaryFolder folder;
  std::string keys[2];
  ashlar_runtime_t *runtime = nullptr;
};

/// Without the last bytes, in a way that the header does not show.
ModuleBytes cut(const ModuleBytes &bytes, size_t missing) {
  ModuleBytes shorter(bytes.size() - missing);
  std::memcpy(shorter.data(), bytes.data(), shorter.size());
  uint64_t size = shorter.size();
  std::memcpy(shorter.data() + offsetof(ashlar_module_header_t, file_size),
              &size, sizeof(size));
  return shorter;
}

// From memory and from a file, with the key first or last among others; a
// runtime without keys takes it, too, and it computes what it did.
TEST_F(Signed, LoadsAndRuns) {
  ModuleBytes bytes = signedModule();
  EXPECT_CODE(ASHLAR_OK, load(bytes));
  for (const std::string &trusted :
       {keys[0] + keys[1], keys[1] + keys[0], std::string()}) {
    ashlar_runtime_release(runtime);
    runtime = trust(trusted);
    EXPECT_CODE(ASHLAR_OK, load(bytes));
  }
  ashlar_load_options_t options = trusting();
  ashlar_module_t *module = nullptr;
  ashlar_session_t *session = nullptr;
  ASSERT_OK(ashlar_module_load_file(runtime, at("signed.ash").c_str(), &options,
                                    &module));
  ASSERT_OK(ashlar_session_create(module, nullptr, nullptr, &session));
  SampleArguments arguments;
  ASSERT_OK(ashlar_session_run(session, "main", arguments.inputs, 2,
                               arguments.outputs, 1));
  arguments.expectResult();
  ashlar_session_release(session);
  ashlar_module_release(module);
}

// The key in the file is the one that the standard derives from the secret.
TEST_F(Signed, CarriesThePublicKey) {
  ModuleBytes bytes = signedModule(1);
  ashlar_module_signature_t found;
  std::memcpy(&found, bytes.data() + bytes.size() - sizeof(found),
              sizeof(found));
  EXPECT_EQ(std::memcmp(found.public_key, keys[1].data(), 32), 0);
  EXPECT_EQ(found.size, sizeof(found));
}

// Whichever byte it is: of the header, the index, padding, weights, code, or
// of the signature itself.
TEST_F(Signed, EveryByteCounts) {
  ModuleBytes bytes = signedModule();
  size_t refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes.data()[i] ^= uint8_t(1 << i % 8);
    refused += load(bytes).code != ASHLAR_OK;
    bytes.data()[i] ^= uint8_t(1 << i % 8);
  }
  EXPECT_EQ(refused, bytes.size());
  EXPECT_CODE(ASHLAR_OK, load(bytes));
}

TEST_F(Signed, RefusesEachInItsWords) {
  ModuleBytes bytes = signedModule();
  expectRefused(sampleModule().build(), ASHLAR_UNSUPPORTED, "--sign-key");
  expectRefused(signedModule(1), ASHLAR_UNSUPPORTED,
                "begins with 3d4017c3e843895a, which is none of the 1 trusted");
  for (size_t missing : {1u, 63u, 64u, 104u})
    expectRefused(cut(bytes, missing), ASHLAR_CORRUPT,
                  "of 112 bytes: get the file again");
  // Not even the beginning of its name is left.
  for (size_t missing : {105u, 112u, 113u})
    expectRefused(cut(bytes, missing), ASHLAR_UNSUPPORTED, "not signed");
  // The last byte of the module, and of the signature; its version.
  expectRefused(changed(bytes, bytes.size() - 113), ASHLAR_CORRUPT,
                "altered after it was signed");
  expectRefused(changed(bytes, bytes.size() - 1), ASHLAR_CORRUPT,
                "altered after it was signed");
  expectRefused(changed(bytes, bytes.size() - 104), ASHLAR_UNSUPPORTED,
                "signature of version 0");
  // Another key in place of the one that signed.
  std::memcpy(bytes.data() + bytes.size() - 96, keys[1].data(), 32);
  ashlar_runtime_release(runtime);
  runtime = trust(keys[0] + keys[1]);
  expectRefused(bytes, ASHLAR_CORRUPT, "altered after it was signed");
}

// What is asked before loading is answered in the same way.
TEST_F(Signed, ChecksFilesAsWell) {
  writeFile(at("plain.ash"), sampleModule().build());
  ashlar_load_options_t options = trusting();
  auto checkFile = [&](const char *name) {
    return ashlar_module_check_file(runtime, at(name).c_str(), &options,
                                    nullptr, nullptr, 1, nullptr);
  };
  expectSays(checkFile("plain.ash"), ASHLAR_UNSUPPORTED, "not signed");
  (void)signedModule();
  EXPECT_CODE(ASHLAR_OK, checkFile("signed.ash"));
}

// Through the C++ header: its runtime takes the same options.
TEST_F(Signed, FromCPlusPlus) {
  writeFile(at("plain.ash"), sampleModule().build());
  (void)signedModule();
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.signature_keys = keys[0].data();
  options.signature_key_count = 1;
  ashlar::Runtime demanding(&options);
  ashlar_load_options_t load = trusting();
  ashlar::Module module;
  ashlar::Status status =
      module.tryLoad(demanding.get(), at("plain.ash"), &load);
  EXPECT_EQ(status.code(), ASHLAR_UNSUPPORTED);
  EXPECT_EQ(status.place(), "signature");
  EXPECT_TRUE(demanding.load(at("signed.ash"), &load));
}

TEST_F(Signed, OptionsAreChecked) {
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.signature_key_count = 1;
  ashlar_runtime_t *made = nullptr;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, ashlar_runtime_create(&options, &made));
  EXPECT_EQ(made, nullptr);
  options.signature_keys = keys[0].data();
  options.signature_key_count = SIZE_MAX;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT, ashlar_runtime_create(&options, &made));
  EXPECT_EQ(made, nullptr);
}

// Keys are PEM files as OpenSSL writes them; what is none says how to make one.
TEST_F(Signed, KeyFiles) {
  SigningKey key;
  std::string bytes;
  EXPECT_NE(key.read(at("none.pem")), "");
  EXPECT_NE(key.read(at("0.pub")).find("openssl genpkey"), std::string::npos);
  EXPECT_NE(readPublicKey(at("0.pem"), bytes).find("-pubout"),
            std::string::npos);
  std::string sound = pem("PUBLIC KEY", publicKeys[0]);
  // Line ends of other systems, and text around it, are common.
  for (const std::string &text :
       {"Mine:\n" + sound + "\n\n",
        pem("PUBLIC KEY", std::string(publicKeys[0]) + "\r"),
        pem("PUBLIC KEY", std::string(publicKeys[0]).insert(20, "\n"))}) {
    folder.write("other.pub", text);
    bytes.clear();
    EXPECT_EQ(readPublicKey(at("other.pub"), bytes), "") << text;
    EXPECT_EQ(bytes, keys[0]);
  }
  // So are files in which every line ends so.
  auto withReturns = [](std::string text) {
    for (size_t i = 0; (i = text.find('\n', i)) != text.npos; i += 2)
      text.insert(i, 1, '\r');
    return text;
  };
  folder.write("other.pub", withReturns("Mine:\n" + sound));
  bytes.clear();
  EXPECT_EQ(readPublicKey(at("other.pub"), bytes), "");
  EXPECT_EQ(bytes, keys[0]);
  folder.write("other.pem", withReturns(pem("PRIVATE KEY", privateKeys[0])));
  EXPECT_EQ(key.read(at("other.pem")), "");
  std::string rsa =
      pem("PUBLIC KEY", std::string(publicKeys[0]).replace(10, 2, "AA"));
  for (const std::string &text :
       {std::string(), sound.substr(0, 60), rsa,
        pem("PUBLIC KEY", std::string(publicKeys[0]).substr(4)),
        pem("PUBLIC KEY", std::string(publicKeys[0]) + "===="),
        pem("PUBLIC KEY", std::string("!") + publicKeys[0]),
        std::string(5000, 'A')}) {
    folder.write("other.pub", text);
    EXPECT_NE(readPublicKey(at("other.pub"), bytes), "") << text;
  }
}

} // namespace
