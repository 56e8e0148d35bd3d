// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a model says of itself.

#include "Loaded.h"

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

class Metadata : public RuntimeTest {
protected:
  static void add(ModuleBuilder &builder, std::string key, std::string value) {
    auto entry = std::make_unique<fb::MetadataT>();
    entry->key = std::move(key);
    entry->value = std::move(value);
    builder.module.metadata.push_back(std::move(entry));
  }
};

TEST_F(Metadata, IsFoundByKeyAndByNumber) {
  ModuleBuilder builder = sampleModule();
  add(builder, "character", "a\nb\n\xe4\xb8\xad");
  add(builder, "held", std::string("x\0y", 3));
  add(builder, "empty", "");
  load(std::move(builder));
  EXPECT_EQ(ashlar_module_metadata_count(module), 3u);
  ashlar_metadata_t found = ASHLAR_METADATA_INIT;
  ASSERT_OK(ashlar_module_metadata(module, "character", &found));
  EXPECT_STREQ(found.key, "character");
  EXPECT_STREQ(found.value, "a\nb\n\xe4\xb8\xad");
  EXPECT_EQ(found.value_bytes, 7u);
  ASSERT_OK(ashlar_module_metadata_at(module, 1, &found));
  EXPECT_STREQ(found.key, "held");
  EXPECT_EQ(std::string(found.value, found.value_bytes),
            std::string("x\0y", 3));
  ASSERT_OK(ashlar_module_metadata(module, "empty", &found));
  EXPECT_EQ(found.value_bytes, 0u);
  EXPECT_CODE(ASHLAR_NOT_FOUND,
              ashlar_module_metadata(module, "charact", &found));
  EXPECT_CODE(ASHLAR_NOT_FOUND, ashlar_module_metadata_at(module, 3, &found));
}

TEST_F(Metadata, MayBeAbsent) {
  load(sampleModule());
  ashlar_metadata_t found = ASHLAR_METADATA_INIT;
  EXPECT_EQ(ashlar_module_metadata_count(module), 0u);
  EXPECT_CODE(ASHLAR_NOT_FOUND, ashlar_module_metadata(module, "x", &found));
  EXPECT_CODE(ASHLAR_NOT_FOUND, ashlar_module_metadata_at(module, 0, &found));
}

TEST_F(Metadata, NullArguments) {
  ModuleBuilder builder = sampleModule();
  add(builder, "k", "v");
  load(std::move(builder));
  ashlar_metadata_t found = ASHLAR_METADATA_INIT;
  EXPECT_EQ(ashlar_module_metadata_count(nullptr), 0u);
  for (ashlar_status_t status :
       {ashlar_module_metadata(nullptr, "k", &found),
        ashlar_module_metadata(module, nullptr, &found),
        ashlar_module_metadata(module, "k", nullptr),
        ashlar_module_metadata_at(nullptr, 0, &found),
        ashlar_module_metadata_at(module, 0, nullptr)})
    EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT) << status.message;
}

TEST_F(Metadata, IsBounded) {
  ModuleBuilder twice = sampleModule();
  add(twice, "k", "1");
  add(twice, "k", "2");
  expectCorrupt(std::move(twice), "a key twice", "twice");
  ModuleBuilder nameless = sampleModule();
  add(nameless, "", "1");
  expectCorrupt(std::move(nameless), "no key", "no key");
  ModuleBuilder large = sampleModule();
  add(large, "k", std::string(ASHLAR_MODULE_MAX_METADATA_SIZE, 'x'));
  expectCorrupt(std::move(large), "too many bytes", "bytes");
  ModuleBuilder many = sampleModule();
  for (int i = 0; i <= ASHLAR_MODULE_MAX_METADATA; ++i)
    add(many, std::to_string(i), "");
  expectCorrupt(std::move(many), "too many entries", "expected at most 65536");
}

} // namespace
