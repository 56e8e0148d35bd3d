// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Planner/PlanFile.h"
#include "gtest/gtest.h"

using namespace ashlar::planner;

static std::string faultOf(std::string_view text) {
  NamedBuffers named;
  return readPlanFile(text, named).value_or("");
}

TEST(PlanFileTest, BuffersComeBackWithTheirOffsets) {
  NamedBuffers named;
  ASSERT_EQ(readPlanFile("id,lower,upper,size\na,0,2,5\r\n\nb,-1,3,0\n", named),
            std::nullopt);
  EXPECT_EQ(writePlanFile(named, {7, 0}),
            "id,lower,upper,size,offset\na,0,2,5,7\nb,-1,3,0,0\n");
}

TEST(PlanFileTest, ColumnsComeInAnyOrder) {
  NamedBuffers named;
  ASSERT_EQ(
      readPlanFile("size,id,offset,alignment,upper,lower\n5,a,9,64,2,1", named),
      std::nullopt);
  EXPECT_EQ(writePlanFile(named, {128}),
            "id,lower,upper,size,alignment,offset\na,1,2,5,64,128\n");
}

TEST(PlanFileTest, EveryFaultNamesItsLine) {
  EXPECT_EQ(faultOf(""),
            "expected a first line 'id,lower,upper,size', found no line");
  EXPECT_EQ(faultOf("id,lower,upper\n"),
            "line 1: expected the columns id, lower, upper, size, but 'size' "
            "is missing");
  EXPECT_EQ(faultOf("id,lower,upper,size,size\n"),
            "line 1: column 'size' is there twice");
  EXPECT_EQ(faultOf("\nid,begin\n"),
            "line 2: expected the columns id, lower, upper, size and perhaps "
            "alignment and offset, found 'begin'");
  std::string header = "id,lower,upper,size\n";
  EXPECT_EQ(faultOf(header + "a,0,1,5\nb,0,1,-5\n"),
            "line 3: expected a size of at least 0, found -5");
  EXPECT_EQ(faultOf(header + "a,4,2,5\n"),
            "line 2: expected a lifetime that ends after it begins, found 4 to "
            "2 (upper is exclusive)");
  EXPECT_EQ(faultOf(header + "a,0,1,5\nb,0,1,5\na,1,2,5\n"),
            "line 4: expected ids that differ, found 'a' again");
  EXPECT_EQ(faultOf(header + "a,0,1\n"), "line 2: expected 4 values, found 3");
  EXPECT_EQ(faultOf(header + "a,0,1,1e9\n"),
            "line 2: expected a whole number of 64 bits as size, found '1e9'");
  EXPECT_EQ(faultOf(header + "a,0,1,99999999999999999999\n"),
            "line 2: expected a whole number of 64 bits as size, found "
            "'99999999999999999999'");
  EXPECT_EQ(faultOf(header + "a,0,1,\x01\n"),
            "line 2: expected a whole number of 64 bits as size, found '?'");
  EXPECT_EQ(faultOf("id,lower,upper,size,alignment\na,0,1,8,0\n"),
            "line 2: expected an alignment from 1 to 4294967296, found 0");
}

TEST(PlanFileTest, SizesWhoseSumOverflowsAreRefused) {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i != 3; ++i)
    text += std::to_string(i) + ",0,1,500000000000000000\n";
  EXPECT_EQ(faultOf(text),
            "line 4: expected sizes whose sum stays below 2^60 bytes, with "
            "this buffer it does not");
  EXPECT_EQ(faultOf("id,lower,upper,size\na,0,1,9223372036854775807\n"),
            "line 2: expected sizes whose sum stays below 2^60 bytes, with "
            "this buffer it does not");
}
