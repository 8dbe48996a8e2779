// Reads names of SQL files from stdin, one per line, and parses each file with
// the grammar of Oracle's SQL and PL/SQL. Prints one line per syntax error:
//
//   file:line:column: text
//
// The argument is the folder of the parser that parser.sh fetches. One process
// checks all files, because the parser builds its tables while it reads and is
// slow until it has seen each kind of statement.
//
// A line "-- sql/claim.sql", the name of a file alone in a comment, begins a new
// script, as in the goldens, which hold many files in one: there a statement needs
// no delimiter before it. Scripts of nothing but comments are passed over.
//
// A script whose words are of the same kinds as those of one without errors, which is all that
// the grammar sees, is not parsed again.
//
// The grammar does not know one thing that servers do: ONLINE behind the columns of
// CREATE INDEX. It is read as blanks.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { getParserFromInput } = await import(pathToFileURL(join(resolve(folder), "build", "index.js")));

const online = /^(CREATE (?:UNIQUE )?INDEX [^;]*\)\s+)ONLINE\b/gm;

const good = new Set(); // kinds of the words of scripts without errors

// errors returns what the grammar has against a script; lines count from first.
function errors(script, first) {
  const found = [];
  const parser = getParserFromInput(script.replace(online, "$1      "));
  const listener = {
    syntaxError(recognizer, symbol, line, column, text) {
      found.push(`${first + line - 1}:${column + 1}: ${text.replace(/\{.{200,}\}$/s, "something else")}`);
    },
    reportAmbiguity() {},
    reportAttemptingFullContext() {},
    reportContextSensitivity() {},
  };
  for (const recognizer of [parser._input.tokenSource, parser]) {
    recognizer.removeErrorListeners();
    recognizer.addErrorListener(listener);
  }
  parser._input.fill();
  const seen = parser._input.tokens.filter((token) => token.channel === 0);
  const kinds = seen.map((token) => token.type).join();
  if (found.length === 0 && good.has(kinds)) return found;
  parser.buildParseTrees = false;
  parser.sql_script();
  if (found.length === 0) good.add(kinds);
  return found;
}

for (const file of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  let line = 1;
  for (const script of readFileSync(file, "utf8").split(/^(?=-- \w+\/\S+\.sql$)/m)) {
    if (/^\s*(?!--)\S/m.test(script)) {
      for (const error of errors(script, line)) console.log(`${file}:${error}`);
    }
    line += script.split("\n").length - 1;
  }
}
