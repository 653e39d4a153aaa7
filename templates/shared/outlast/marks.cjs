// Marks the place of each element in the source, in development only: lower-case tags get `data-loc`, components
// `data-use`, which they pass on with their other props. A mark is `path:line:column` of the tag's `<`: path from the
// project's folder, line from 1, column from 0 in UTF-16 units.
"use strict";

const path = require("node:path");
const { parse } = require("@babel/parser");
const magic = require("magic-string");

const MagicString = magic.default ?? magic;
// Components that do not accept other props, or do not pass them to the page.
const UNMARKED = /^(?:Fragment|Suspense|StrictMode|Profiler|Activity|ViewTransition|.*Provider|.*Context|Consumer)$/;
// In react-three-fiber, a tag is an object and each attribute one of its properties.
const FOREIGN = /from\s*["']@react-three\//;

function marked(source, file, root) {
  const name = path.relative(root, file).split(path.sep).join("/");
  if (name.startsWith("..") || name.includes("node_modules/") || FOREIGN.test(source)) return null;
  let tree;
  try {
    tree = parse(source, { sourceType: "module", plugins: ["typescript", "jsx"], errorRecovery: true });
  } catch {
    return null; // the compiler reports it better
  }
  const text = new MagicString(source);
  walk(tree.program, (tag) => {
    const attribute = attributeOf(tag.name);
    if (!attribute) return;
    const { line, column } = tag.loc.start;
    const end = (tag.typeArguments ?? tag.typeParameters ?? tag.name).end;
    text.appendLeft(end, ` ${attribute}=${JSON.stringify(`${name}:${line}:${column}`)}`);
  });
  if (!text.hasChanged()) return null;
  return { code: text.toString(), map: text.generateMap({ source: file, includeContent: true, hires: "boundary" }) };
}

function attributeOf(name) {
  if (name.type === "JSXIdentifier") {
    if (/^[a-z]/.test(name.name)) return "data-loc";
    return UNMARKED.test(name.name) ? null : "data-use";
  }
  if (name.type === "JSXMemberExpression") return UNMARKED.test(name.property.name) ? null : "data-use";
  return null;
}

function walk(node, visit) {
  if (node.type === "JSXOpeningElement") visit(node);
  for (const key in node) {
    if (key === "loc" || key === "leadingComments" || key === "trailingComments") continue;
    const value = node[key];
    if (Array.isArray(value)) {
      for (const one of value) if (one && typeof one.type === "string") walk(one, visit);
    } else if (value && typeof value.type === "string") {
      walk(value, visit);
    }
  }
}

/** The same as a Turbopack loader. */
module.exports = function mark(source, map) {
  const found = marked(source, this.resourcePath, this.rootContext || process.cwd());
  if (found) this.callback(null, found.code, found.map);
  else this.callback(null, source, map);
};
module.exports.marked = marked;
