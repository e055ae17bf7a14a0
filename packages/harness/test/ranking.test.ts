import type { Json } from "@holdfast/protocol";
import type { Embedder } from "@holdfast/runtime";
import { describe, expect, test } from "vitest";
import { explain, rankTools } from "../src/discovery/rank.ts";
import { createRanking } from "../src/discovery/ranking.ts";
import { stem } from "../src/discovery/stem.ts";
import type { SearchableTool } from "../src/discovery/tool-index.ts";
import { indexTools } from "../src/discovery/tool-index.ts";

function tool(
  name: string,
  description: string,
  parameters: Readonly<Record<string, Json>> = {},
  more: Partial<SearchableTool> = {},
): SearchableTool {
  const required = (more as { required?: string[] }).required ?? [];
  return { name, server: "", description, schema: { type: "object", properties: parameters, required }, ...more };
}

const tools = [
  tool("createIssue", "Opens an issue in a repository.", { title: {}, labels: { description: "Labels such as bug." } }),
  tool("list_issues", "Lists issues.", { state: {} }),
  tool("fetch_page", "Retrieves a page of the web.", { url: {} }),
  tool("stock_quote", "Latest quote of a share.", { ticker: {} }),
  tool("get_hot_list", "获取新闻热榜"),
  tool("wordcloud", "Renders words by how often they come."),
  tool("trains_today", "Trains of today.", { station: {} }),
  tool("trains_on", "Trains of a day.", { station: {}, date: {} }),
  tool("trains_at", "Trains near a point.", {}, { schema: { type: "object", properties: { latitude: {} }, required: ["latitude"] } }),
];
const index = indexTools(tools);
const names = (query: string, limit = 9): string[] => rankTools(index, query, limit).map((found) => found.tool.name);

describe("a search among tools", () => {
  test("takes a date as one, and its words for nothing else", () => {
    const some = [tool("march_route", "Route of a march."), tool("forecast", "Weather of a day.", { date: {} })];
    const found = rankTools(indexTools(some), "the weather on March 3rd", 9).map((one) => one.tool.name);
    expect(found).toEqual(["forecast"]);
  });

  const firstOf = (some: SearchableTool[], query: string): string => rankTools(indexTools(some), query, 9)[0]!.tool.name;
  const needing = (name: string, parameters: Readonly<Record<string, Json>>, description = "Weather of a place."): SearchableTool =>
    tool(name, description, {}, { schema: { type: "object", properties: parameters, required: Object.keys(parameters) } });
  const text = { type: "string" };
  const number = { type: "integer" };

  test.each([
    ["from one date to another", needing("weather_a", { start_date: text, end_date: text }), needing("weather_b", { date: text })],
    ["a unit", needing("weather_a", { units: text }), needing("weather_b", { about: text })],
    ["a number beside the date's", needing("weather_a", { date: text, hops: number }), needing("weather_b", { date: text, about: text })],
  ])("puts behind what needs %s where the request holds none", (_, lacking, plain) => {
    expect(firstOf([lacking, plain], "weather on March 3rd, 2027")).toBe("weather_b");
  });

  test.each([
    ["a year", "people in 1970", "year"],
    ["a time of day", "people at 9:30 pm", "hour"],
    ["how long", "people for 3 weeks", "duration"],
    ["money", "people for $30", "budget"],
  ])("puts before the others what takes %s that the request holds", (_, query, parameter) => {
    const some = [tool("people_a", "Counts people.", { colour: {} }), tool("people_b", "Counts people.", { [parameter]: {} })];
    expect(firstOf(some, query)).toBe("people_b");
  });

  test.each([
    ["how a request is opened", tool("go", "Of go."), tool("songs", "Of songs of artists."), "I am going for songs"],
    ["a name within a sentence", tool("castle", "Of castles."), tool("songs", "Of songs."), "give me songs by the Castle"],
  ])("hears less of %s than of what is asked for", (_, other, meant, query) => {
    expect(firstOf([other, meant], query)).toBe(meant.name);
  });

  test("takes no kind for another of the same", () => {
    const some = [tool("euro_history", "Europe's past, of the euro."), tool("convert_currency", "One currency to another.")];
    expect(rankTools(indexTools(some), "how many yen", 9).map((found) => found.tool.name)).toEqual(["convert_currency"]);
  });

  test("meets a word by one of its family sooner than by another of its group", () => {
    const some = [tool("quotient", "Gives it."), tool("divide", "Gives it."), tool("army", "A division of it.")];
    expect(firstOf(some, "division")).toBe("divide");
  });

  test("leaves places for the other wishes where many alike fit one", () => {
    const many = ["bank", "house", "car", "study"].map((purpose) => tool(`loan_for_${purpose}`, "Monthly rate of a loan."));
    const others = [
      tool("city_weather", "Weather of a city, hour by hour, and its wind."),
      tool("flights", "Planes between two airports."),
    ];
    const found = rankTools(
      indexTools([...many, ...others]),
      "What is the monthly rate of a loan? The loan is for a house. How is the weather? Which planes go there?",
      4,
    );
    expect(found.map((one) => one.tool.name)).toEqual(expect.arrayContaining(["city_weather", "flights"]));
    const scores = found.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((one, other) => other - one));
  });

  test("ranks no more parts each than a request can have wishes", () => {
    let reads = 0;
    const postings = new Map(index.postings);
    const get = postings.get.bind(postings);
    postings.get = (word) => {
      reads += 1;
      return get(word);
    };
    const readsFor = (parts: number): number => {
      reads = 0;
      rankTools({ ...index, postings }, "open issue\n".repeat(parts), 5);
      return reads;
    };
    expect(readsFor(150)).toBe(readsFor(30));
    expect(readsFor(3)).toBeLessThan(readsFor(30));
  });

  test("takes a query of any length", () => {
    expect(names(`open an issue ${"a.a.".repeat(100_000)}`)[0]).toBe("createIssue");
  });

  test.each([
    ["open a new issue", "createIssue"],
    ["which issues are there", "list_issues"],
    ["retrieves a web page", "fetch_page"],
    ["what is the price of this equity", "stock_quote"],
    ["news headlines", "get_hot_list"],
    ["新闻", "get_hot_list"],
    ["a word cloud of the text", "wordcloud"],
    ["repositry issue", "createIssue"],
    ["what does https://example.com/a/b.html say", "fetch_page"],
    ["trains from Bonn on 2027-03-01", "trains_on"],
    ["LABELS", "createIssue"],
  ])("%s: %s", (query, first) => {
    expect(names(query)[0]).toBe(first);
  });

  test("puts a tool first whose very name is asked for", () => {
    expect(names("trains_at")[0]).toBe("trains_at");
  });

  test("puts last what can't be called with what the query holds", () => {
    expect(names("trains").at(-1)).toBe("trains_at");
  });

  test("has a place for the best of each thing that is asked for", () => {
    const found = names("Open an issue about the crash in the repository. Then make a word cloud of the text.", 2);
    expect(found.toSorted()).toEqual(["createIssue", "wordcloud"]);
  });

  test("gives at most what it may, none for words that nothing has, and the same each time", () => {
    expect(names("trains", 2)).toHaveLength(2);
    expect(names("zzz qqq")).toEqual([]);
    expect(names("")).toEqual([]);
    expect(rankTools(indexTools([]), "anything", 5)).toEqual([]);
    expect(names("trains of today")).toEqual(names("trains of today"));
  });

  test("lifts the tools of a server that fits well", () => {
    const pair = (server: string, other: string): SearchableTool[] => [
      tool(`mcp__${server}__save`, "Saves it.", {}, { server }),
      tool(`mcp__${server}__${other}`, "Does that.", {}, { server }),
    ];
    const two = indexTools([...pair("files", "sketch_outline"), ...pair("slides", "present_slides")]);
    expect(
      rankTools(two, "save the slides", 4)
        .map((found) => found.tool.name)
        .indexOf("mcp__slides__save"),
    ).toBeLessThan(2);
  });

  test("can be explained: what each word added, by which word of which field", () => {
    const reasons = explain(index, "price of an equity", tools[3]!);
    expect(reasons.map(({ word, by }) => [word, by])).toEqual(
      expect.arrayContaining([
        ["price", "quot"],
        ["equiti", "stock"],
      ]),
    );
    for (const { fields, score } of reasons) {
      expect(Object.values(fields).reduce((sum, part) => sum + part, 0)).toBeCloseTo(score);
    }
  });
});

describe("with an embedder", () => {
  const specs = tools.map(({ name, description, schema }) => ({ name, description, schema }));
  const rank = (embedder: Embedder) =>
    createRanking(embedder)
      .rank("zzz", specs, 2, new AbortController().signal)
      .then((found) => found.map(({ name }) => name));

  test("a tool is found that shares no word with the query", async () => {
    const embed = async (texts: readonly string[]) =>
      texts.map((text) => Float32Array.of(/zzz|share/.test(text) ? 1 : 0, /zzz|share/.test(text) ? 0 : 1));
    expect((await rank({ embed }))[0]).toBe("stock_quote");
  });

  test("of thousands of tools it is asked for no more at once than one takes", async () => {
    const many = Array.from({ length: 150 }, (_, n) => ({ ...specs[0]!, name: `tool_${n}`, description: n === 149 ? "share" : "" }));
    const embed = async (texts: readonly string[]) => {
      if (texts.length > 64) throw new Error("too many");
      return texts.map((text) => Float32Array.of(/zzz|share/.test(text) ? 1 : 0));
    };
    expect((await createRanking({ embed }).rank("zzz", many, 1, new AbortController().signal))[0]?.name).toBe("tool_149");
  });

  test("that fails, words alone decide", async () => {
    expect(await rank({ embed: async () => Promise.reject(new Error("offline")) })).toEqual([]);
  });
});

test("words of one family have one stem", () => {
  const families = [
    ["connect", "connected", "connecting", "connection", "connections"],
    ["issue", "issues"],
    ["query", "queries"],
    ["retrieve", "retrieves", "retrieved"],
    ["calculate", "calculator", "calculation"],
    ["write", "writing", "written"],
    ["analysis", "analyze", "analyse"],
    ["pdf", "pdfs"],
  ];
  for (const family of families) expect(new Set(family.map(stem)).size, family.join(" ")).toBe(1);
  expect(stem("news")).not.toBe(stem("new"));
  expect(stem("gas")).toBe("gas");
});
