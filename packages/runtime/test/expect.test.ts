import { expect, test } from "vitest";
import { judgeExpectation } from "../src/expect.ts";
import { done } from "./kit.ts";

test("an expected status is held against the answer, and a wrong one has a cause", () => {
  const judged = (status: number | undefined) =>
    judgeExpectation({ status: 201 }, done("", status === undefined ? {} : { httpStatus: status }));
  expect(judged(201)).toEqual({ verdict: "met", expected: "status 201", observed: "status 201" });
  expect(judged(undefined)).toMatchObject({ verdict: "unknown", observed: "no answer" });
  for (const [status, cause] of [
    [200, "wrong_belief"],
    [302, "wrong_belief"],
    [400, "wrong_input"],
    [403, "denied"],
    [404, "wrong_input"],
    [429, "environment"],
    [503, "environment"],
  ] as const) {
    expect(judged(status), String(status)).toMatchObject({ verdict: "unmet", cause });
  }
});
