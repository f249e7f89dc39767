/** Devices that do not repeat the transaction id of a request (MODBUS Messaging on TCP/IP 1.0b, 3.1.3). */
import { expect } from 'chai';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { connected, failureOf, pointsOf } from '../../support/client.ts';
import { oldInverter } from '../../support/foreign-map.ts';
import { adu } from '../../support/modbus-client.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import type { PeerRequest, Rule } from '../../support/scripted-peer.ts';

describe('SunSpec client with a device whose transaction id is always 0', () => {
  let peer: ScriptedPeer;
  let client: SunSpecClientAdapter;
  const { layout, image } = oldInverter();

  /** The proper answer with another id. */
  const withId =
    (id: number): Rule =>
    (request) => ({ octets: peer.answerTo({ ...request, transactionId: id }) });
  const zeroed: Rule = (request) => withId(0)(request);

  beforeEach(async () => {
    peer = await ScriptedPeer.open(Buffer.from(image), layout.base, zeroed);
    ({ client } = await connected(peer.port, { transactionIds: 'zero' }));
  });
  afterEach(async () => {
    await client.stop();
    await peer.close();
  });
  const power = async () => pointsOf(await client.readModel(103, 0, true)).get('W')?.value;

  it('is refused in precise words unless that is allowed', async () => {
    const strict = await failureOf(connected(peer.port));
    expect([strict.code, strict.message]).to.deep.equal([
      'PEER_TIMEOUT',
      'no answer from unit 1 within 0.25 s, reading 2 registers at 40000; an answer came ' +
        'with transaction id 0, which is not that of the request; if the device always answers with 0, connect with transaction_id "zero"',
    ]);
  });

  it('is read and written on one connection, and its exceptions are heard', async () => {
    expect(client.view().discovery).to.include({ end: 'end_model' });
    expect(client.view().target).to.include({ transactionIds: 'zero' });
    expect(await power()).to.equal(4950);
    expect((await client.writePoints(123, 0, { WMaxLimPct: 60 })).match).to.equal(true);
    expect((await client.writePoints(123, 0, { WMaxLimPct: 70, WMaxLimPct_WinTms: 1 })).match).to.equal(true);
    peer.rule = (request) => ({ octets: peer.exception({ ...request, transactionId: 0 }, 4) });
    expect(await failureOf(power())).to.include({ code: 'PEER_ERROR', protocolCode: 4 });
    expect([peer.connections, client.view().counters.connections]).to.deep.equal([1, 1]);
  });

  it('may send the right id now and then, but no other', async () => {
    peer.rule = () => undefined;
    expect(await power()).to.equal(4950);
    peer.rule = withId(0x1234);
    expect((await failureOf(power())).message).to.match(/with transaction id 4660, which is not that of the request$/);
  });

  const data = ({ count }: PeerRequest) => '00'.repeat(count * 2);
  const octets = ({ count }: PeerRequest) => (count * 2).toString(16).padStart(2, '0');
  const unfit: readonly (readonly [what: string, answer: (request: PeerRequest) => Buffer, words: RegExp])[] = [
    [
      'of another unit',
      (request) => adu(0, 9, `03${octets(request)}${data(request)}`),
      /makes no sense, .*expected address 1 got 9/,
    ],
    [
      'to another function',
      (request) => adu(0, 1, `04${octets(request)}${data(request)}`),
      /makes no sense, .*expected code 3 got 4/,
    ],
    ['with fewer registers', () => adu(0, 1, '03020000'), /makes no sense, .*length/],
    ['with a byte count that is none', (request) => adu(0, 1, `0302${data(request)}`), /has 2 octets of data/],
    [
      'that is an exception of another unit',
      () => adu(0, 9, '8302'),
      /makes no sense: an exception of 3 octets from unit 9 came/,
    ],
    [
      'that is an exception with more in it',
      () => adu(0, 1, '830200'),
      /makes no sense: an exception of 4 octets from unit 1 came/,
    ],
    ['that is an exception to another function', () => adu(0, 1, '9002'), /makes no sense/],
  ];
  for (const [what, answer, words] of unfit) {
    it(`is not believed an answer ${what}`, async () => {
      peer.rule = (request) => ({ octets: answer(request) });
      const failure = await failureOf(client.readRegisters(40_000, 4));
      expect(failure.code, failure.message).to.equal('PEER_ERROR');
      expect(failure.message).to.match(words);
      peer.rule = zeroed;
      expect(await power(), 'afterwards').to.equal(4950);
    });
  }

  it('is asked on a new connection after silence: a late answer looks like the next one', async () => {
    let late: PeerRequest | null = null;
    const begin = peer.requests.length;
    peer.rule = (request) => {
      if (request.number > begin) {
        late?.socket.write(adu(0, 1, '0308ffffffffffffffff'));
        return zeroed(request);
      }
      late = request;
      return 'silence';
    };
    expect(await client.readRegisters(40_000, 4)).to.deep.equal([0x5375, 0x6e53, 1, 66]);
    expect(peer.connections).to.equal(2);
  });

  it('ends the connection with an answer that nobody asked for, which would be taken for the next one', async () => {
    peer.rule = (request) => {
      const answer = peer.answerTo({ ...request, transactionId: 0 });
      return { octets: Buffer.concat([answer, Buffer.from(answer).fill(0xee, 9)]) };
    };
    for (let i = 0; i < 3; i += 1) expect(await client.readRegisters(40_000, 4)).to.deep.equal([0x5375, 0x6e53, 1, 66]);
    expect(peer.connections).to.equal(3);
    expect(client.view().lastError).to.equal('an answer with transaction id 0 came without a request');
  });
});
