import { expect } from 'chai';
import { parsingBody } from '../../../src/api/http/body.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { route } from '../../../src/api/http/route.ts';
import { z } from '../../../src/api/description/zod.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';

const anything = z.looseObject({});
const routes = [
  route({
    method: 'post',
    path: '/thing',
    tag: 'Core',
    operationId: 'set_thing',
    summary: '',
    body: anything,
    reply: anything,
    handle: () => ({}),
  }),
];

describe('what holds for every body', () => {
  let api: Api;
  let port: number;
  before(async () => {
    api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant }), { routes });
    ({ port } = await api.start());
  });
  after(() => api.stop());

  async function faults(body: string): Promise<Json> {
    const { status, json } = await ask(port, '/api/sim/thing', { method: 'POST', body });
    expect([status, json.code]).to.deep.equal([422, 'validation']);
    return json.errors;
  }
  const taken = async (body: string) => (await ask(port, '/api/sim/thing', { method: 'POST', body })).status === 200;

  for (const [body, name] of [
    ['{"tree":{"a":{"b":1,"b":2}}}', '/tree/a/b'],
    ['{"tree":[0,"x,y",[1,{"b/~":[{}],"b\\u002f~":2}]]}', '/tree/2/1/b~1~0'],
    ['{"a" : 1, "a": 2}', '/a'],
    ['{"tree":{"":1,"":2}}', '/tree/'],
    [
      `{"tree":[{"a":1},{"a":[]},{"a":{},"${'n'.repeat(200)}":1,"${'n'.repeat(200)}":1}]}`,
      `/tree/2/${'n'.repeat(100)}`,
    ],
  ] as const) {
    it(`a member given twice is pointed at: ${name.slice(0, 20)}`, async () => {
      expect(await faults(body)).to.deep.equal([{ in: 'body', name, detail: 'is given more than once in one object' }]);
    });
  }

  it('a large body is checked in parts of 2,000 values, then of 2,000 tokens; a small one and numbers in one part', () => {
    const parts = (body: unknown) => [...parsingBody(Buffer.from(JSON.stringify(body)))].length;
    expect(parts({ tree: [] })).to.equal(0);
    expect(parts({ numbers: Array.from({ length: 9_999 }, () => 1) })).to.equal(0);
    // the list is a value too; it takes 8,000 tokens
    expect(parts({ texts: Array.from({ length: 3_998 }, () => '1') })).to.equal(1 + 4);
    expect(parts({ texts: Array.from({ length: 3_999 }, () => '1') })).to.equal(2 + 4);
  });

  it('one name in different objects, or in text, is not given twice', async () => {
    expect(await taken('{"tree":[{"a":1,"b":{"a":"\\"a\\":1,\\"a\\":1"}},{"a":{"a":["a","a"]}}]}')).to.equal(true);
  });

  it('4,000 members in all objects together are accepted, and no more; a list or an empty object counts as one', async () => {
    const refusal = {
      in: 'body',
      name: '',
      detail: 'must have at most 4000 members in all objects together; a list or an empty object counts as one',
    };
    const members = (count: number) => `{"tree":[{},{${Array.from({ length: count }, (_, i) => `"m${i}":0`).join()}}]}`;
    expect(await taken(members(3997))).to.equal(true);
    expect(await faults(members(3998))).to.deep.equal([refusal]);
    for (const empty of ['{}', '[]']) {
      const list = (count: number) => `{"tree":[${Array.from({ length: count }, () => empty).join()}]}`;
      expect(await taken(list(3998))).to.equal(true);
      expect(await faults(list(3999))).to.deep.equal([refusal]);
    }
  });
});
