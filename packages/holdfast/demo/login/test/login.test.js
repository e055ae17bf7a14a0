import assert from "node:assert/strict";
import { test } from "node:test";
import { login } from "../src/login.js";
import { register } from "../src/users.js";

register("Ada@Example.org", "correct horse");

test("the right password lets in", () => {
  assert.equal(login("ada@example.org", "correct horse"), "ada@example.org");
});

test("a wrong password doesn't", () => {
  assert.equal(login("ada@example.org", "wrong horse"), null);
});

test("an address that nobody registered doesn't", () => {
  assert.equal(login("eve@example.org", "correct horse"), null);
});

test("the address as it was registered lets in", () => {
  assert.equal(login("Ada@Example.org", "correct horse"), "ada@example.org");
});
