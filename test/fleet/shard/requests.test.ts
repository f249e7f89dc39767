import { expect } from 'chai';
import type { BytesRequest, PerformedBytes } from '../../../src/contract/perform-bytes.ts';
import { FleetError } from '../../../src/fleet/link.ts';
import { ShardRequests } from '../../../src/fleet/shard/requests.ts';

const headers = { 'Derbench-Method': 'POST', 'Derbench-Path': '/controls?device=3', 'Derbench-By': 'rest;10.0.0.7:1' };
const empty = new Uint8Array(0);

function rig(answer: (request: BytesRequest) => Promise<PerformedBytes>) {
  const seen: BytesRequest[] = [];
  let repeats = 0;
  const requests = new ShardRequests(
    (request) => {
      seen.push(request);
      return answer(request);
    },
    () => (repeats += 1),
  );
  return { requests, seen, repeats: () => repeats };
}

const done = { status: 202, type: 'text/csv', headers: { 'X-Thing': '1' }, bytes: Buffer.from('a,b') };
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof FleetError ? `${error.code}: ${error.message}` : 'another error'),
  );

describe('fleet: requests to a shard', () => {
  it('reach the operation with body and writer, and bring back status, type, headers and bytes', async () => {
    const { requests, seen } = rig(() => Promise.resolve(done));
    const answer = await requests.answer({ headers, body: Buffer.from('{}') });
    expect(seen[0]).to.deep.include({ method: 'POST', path: '/controls?device=3', isPrivate: false });
    expect(seen[0]?.by).to.deep.equal({ source: 'rest', peer: '10.0.0.7:1' });
    expect(seen[0]?.body?.toString()).to.equal('{}');
    expect(answer.headers).to.deep.equal({ 'Derbench-Status': '202', 'Content-Type': 'text/csv', 'X-Thing': '1' });
    expect(answer.body.toString()).to.equal('a,b');
  });

  it('without a header that every gateway sends are refused', async () => {
    const { requests, seen } = rig(() => Promise.resolve(done));
    for (const name of Object.keys(headers)) {
      const body = empty;
      expect(await refusalOf(requests.answer({ headers: { ...headers, [name]: '' }, body }))).to.contain(name);
    }
    for (const wrong of [{ 'Derbench-By': 'root;x' }, { 'Derbench-Method': 'TRACE' }])
      expect(await refusalOf(requests.answer({ headers: { ...headers, ...wrong }, body: empty }))).to.match(/^refused/);
    expect(seen).to.have.length(0);
    expect(requests.refused).to.equal(5);
  });

  it('beyond 256 open ones are answered 429', async () => {
    const ends: (() => void)[] = [];
    const { requests, seen } = rig(() => new Promise((resolve) => ends.push(() => resolve(done))));
    const open = Array.from({ length: 256 }, () => requests.answer({ headers, body: empty }));
    const answer = await requests.answer({ headers, body: empty });
    expect(answer.headers['Derbench-Status']).to.equal('429');
    expect(JSON.parse(answer.body.toString())).to.include({ status: 429, code: 'too-many-requests' });
    expect(seen).to.have.length(256);
    for (const end of ends) end();
    await Promise.all(open);
    const later = requests.answer({ headers, body: empty });
    ends.at(-1)?.();
    expect((await later).headers['Derbench-Status']).to.equal('202');
  });

  it('ask for the last tick once more', async () => {
    const { requests, repeats } = rig(() => Promise.resolve(done));
    const answer = await requests.answer({ headers: { 'Derbench-Method': 'TICK' }, body: empty });
    expect([answer.headers['Derbench-Status'], repeats()]).to.deep.equal(['204', 1]);
  });
});
