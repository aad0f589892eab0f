// Writes a table with lancedb for Node, and what lancedb reads from it as an Arrow stream:
//
//   node lancedb.cjs DIRECTORY STREAM
//
// Both packages must come from require: lancedb does, and classes of another copy of Arrow are strangers to it.
const { writeFileSync } = require("node:fs");
const { resolve } = require("node:path");
const lancedb = require("@lancedb/lancedb");
const arrow = require("apache-arrow");

const item = (type) => new arrow.Field("item", type, true);
const schema = new arrow.Schema([
  new arrow.Field("id", new arrow.Int32(), false),
  new arrow.Field("vector", new arrow.FixedSizeList(16, item(new arrow.Float32())), true),
  new arrow.Field("text", new arrow.Utf8(), true),
  new arrow.Field("words", new arrow.List(item(new arrow.Utf8())), true),
  new arrow.Field("at", new arrow.TimestampMillisecond(), true),
  new arrow.Field("big", new arrow.Int64(), true),
  new arrow.Field("flag", new arrow.Bool(), true),
  new arrow.Field("place", new arrow.Struct([
    new arrow.Field("x", new arrow.Float64(), true),
    new arrow.Field("name", new arrow.Utf8(), true),
  ]), true),
]);

function row(i) {
  return {
    id: i,
    vector: Array.from({ length: 16 }, (_, k) => (i * 31 + k) / 7),
    text: i % 7 ? `row ${i} of a table` : i % 2 ? "" : null,
    words: i % 5 ? [`w${i % 9}`, "", `é${i}`].slice(0, i % 4) : null,
    at: new Date(1700000000000 + i * 61000),
    big: i % 11 ? BigInt(i) * 1000000007n : null,
    flag: i % 3 === 0,
    place: { x: i / 3, name: i % 4 ? `p${i % 13}` : null },
  };
}

async function main(dir, stream) {
  const rows = (from, n) => Array.from({ length: n }, (_, k) => row(from + k));
  const db = await lancedb.connect(resolve(dir));
  const t = await db.createTable("t", rows(0, 3000), { schema });
  await t.add(rows(3000, 700));
  await t.delete("id % 10 = 3");
  await t.update({ where: "id % 50 = 7", values: { text: "updated" } });
  const read = await t.query().toArrow();
  writeFileSync(stream, arrow.tableToIPC(read, "stream"));
}

main(process.argv[2], process.argv[3]).catch((e) => {
  console.error(e);
  process.exit(1);
});
