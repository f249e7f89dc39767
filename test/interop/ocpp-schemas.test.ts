/** The schemas that ocpp-rpc carries are those that the Open Charge Alliance has published. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { packagedSchemas } from '../ocpp/central/judge.ts';
import { skip } from '../support/skip.ts';

/** A folder of data beside that of the source, with `Authorize.json`, `AuthorizeResponse.json` and so on in it. */
const beside = fileURLToPath(new URL('../../../shared/data/ocpp/1.6', import.meta.url));
const directory = process.env['OCPP_16_SCHEMAS'] ?? beside;

const remarks: ReadonlySet<string> = new Set(['$schema', '$id', 'id', 'title', 'description', 'comment', 'javaType']);
/** Keywords and the type without which they say nothing; for lists also only beside several schemas of items. */
const idle: readonly (readonly [keyword: string, type: string])[] = [
  ['additionalProperties', 'object'],
  ['additionalItems', 'none: the published schemas give one schema for all items'],
];

/** What decides about payloads. @param isSchema false: members by the names of a payload or of definitions */
function rules(schema: unknown, isSchema = true): unknown {
  if (Array.isArray(schema)) return schema.map((each) => rules(each));
  if (typeof schema !== 'object' || schema === null) return schema;
  const type = 'type' in schema ? schema.type : 'object';
  const decides = (name: string) =>
    !isSchema || (!remarks.has(name) && !idle.some(([keyword, needed]) => keyword === name && type !== needed));
  const members = Object.entries(schema).filter(([name]) => decides(name));
  const named = (name: string) => isSchema && (name === 'properties' || name === 'definitions');
  return Object.fromEntries(members.map(([name, value]) => [name, rules(value, !named(name))]));
}

describe('schemas of OCPP 1.6 and of its security white paper', () => {
  const packaged = packagedSchemas();
  const files = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.json')) : [];

  before(function () {
    if (files.length === 0) skip(this, 'the published schemas are missing (OCPP_16_SCHEMAS=DIR)');
  });

  it('are 39 pairs', () => {
    expect(files).to.have.length(78);
    expect(packaged.size).to.equal(78);
  });

  for (const file of files)
    it(`${file} decides as published`, () => {
      const [, action = '', isReply] = /^(.*?)(Response)?\.json$/.exec(file) ?? [];
      const published = JSON.parse(readFileSync(join(directory, file), 'utf8')) as unknown;
      const carried = packaged.get(`${action}.${isReply === undefined ? 'req' : 'conf'}`);
      expect(rules(carried)).to.deep.equal(rules(published));
    });
});
