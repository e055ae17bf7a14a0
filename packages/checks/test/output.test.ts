import { createBounded } from "@holdfast/node/host/bounded";
import type { Json } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { answerProblems } from "../src/output/answer.ts";
import { schemaProblem } from "../src/output/schema.ts";

const schema: Json = {
  type: "object",
  properties: { n: { type: "integer" }, kind: { enum: ["bug", "task"] }, list: { type: "array", items: { $ref: "#/$defs/entry" } } },
  required: ["n"],
  additionalProperties: false,
  $defs: { entry: { type: "object", required: ["path"], properties: { path: { type: "string", format: "uri" } } } },
};

describe("a schema that answers can be held to", () => {
  test.each<[Json]>([
    [schema],
    [{}],
    [{ $schema: "http://json-schema.org/draft-07/schema#", definitions: { a: { type: "string" } }, items: [{ $ref: "#/definitions/a" }] }],
    [{ $schema: "https://json-schema.org/draft/2020-12/schema", type: ["object", "null"], properties: { next: { $ref: "#" } } }],
    [{ $defs: { a: { $anchor: "q", type: "string" } }, properties: { a: { $ref: "#q" }, $ref: { type: "string" } } }],
    [{ enum: [{ $ref: "https://example.org/data" }], "x-note": 1 }],
  ])("%j", (one) => {
    const before = JSON.stringify(one);
    expect(schemaProblem(one)).toBeNull();
    expect(JSON.stringify(one)).toBe(before);
  });

  test.each<[Json, string]>([
    [[], "is an object"],
    [{ $schema: "http://json-schema.org/draft-04/schema#" }, "/$schema"],
    [{ properties: { a: { type: "objekt" } } }, "/properties/a/type"],
    [{ properties: [] }, "/properties: "],
    [{ required: "a" }, "/required: "],
    [{ anyOf: [] }, "/anyOf: "],
    [{ items: { minLength: -1 } }, "/items/minLength: "],
    [{ pattern: "(" }, "/pattern: "],
    [{ multipleOf: 0 }, "/multipleOf: "],
    [{ not: 5 }, "/not: "],
    [{ properties: { a: { $ref: "https://example.org/schema" } } }, "nothing is loaded"],
    [{ $ref: "other.json" }, "nothing is loaded"],
    [{ properties: { a: { $ref: "#/$defs/none" } } }, 'there is no "#/$defs/none"'],
    [{ $ref: "#" }, "without an end"],
    [JSON.parse('{"not":'.repeat(200) + "{}" + "}".repeat(200)) as Json, "nested too deep"],
  ])("%j is refused, with the place", (one, what) => {
    expect(schemaProblem(one)).toContain(what);
  });
});

describe("an answer", () => {
  test("that is JSON and valid has no problems, and the schema stays as it is", () => {
    const before = JSON.stringify(schema);
    expect(answerProblems(schema, ' {"n": 3, "list": [{"path": "https://example.org"}]}\n')).toEqual([]);
    expect(JSON.stringify(schema)).toBe(before);
  });

  test.each<[string, readonly string[]]>([
    ["", ["there is no answer"]],
    ["```json\n{}\n```", ["it stands in a code fence; only the JSON itself is wanted"]],
    ['{"n": 1} and more', [expect.stringContaining("it is not JSON: ")]],
    ["{}", ['the whole: does not have required property "n".']],
    [
      '{"n":1.5,"kind":"wish","list":[{},1]}',
      [
        '/n: type "number" is invalid. Expected "integer".',
        '/kind: does not match any of ["bug","task"].',
        '/list/0: does not have required property "path".',
        '/list/1: type "number" is invalid. Expected "object".',
      ],
    ],
    ['{"n":1,"more":2}', [expect.stringContaining('"more"'), "/more: not allowed here"]],
  ])("%j is told what is wrong with it, in the place where it is", (text, problems) => {
    expect(answerProblems(schema, text)).toEqual(problems);
  });

  test("with many faults, or one that quotes much, is told of a bounded number in a bounded length", () => {
    const many = answerProblems(schema, JSON.stringify({ n: 1, list: Array.from({ length: 1000 }, () => 1) }));
    expect(many).toHaveLength(11);
    expect(many.at(-1)).toBe("and 990 more");
    const [long = ""] = answerProblems({ type: "object", additionalProperties: false }, JSON.stringify({ ["x".repeat(5000)]: 1 }));
    expect(long.length).toBeLessThanOrEqual(301);
  });

  test("whose schema has a pattern that takes too long on it is not judged, and told so", () => {
    const slow = { type: "string", pattern: "^(a+)+$" };
    expect(answerProblems(slow, JSON.stringify(`${"a".repeat(60)}!`), createBounded())).toEqual([expect.stringContaining("not judged")]);
    expect(answerProblems(slow, '"aaa"', createBounded())).toEqual([]);
  });
});
