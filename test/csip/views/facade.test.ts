/** What REST asks of the clients, at the head-end of the tests. */
import { createServer } from 'node:net';
import { expect } from 'chai';
import { errorText } from '../../../src/core/errors.ts';
import { listen } from '../../../src/core/net/listen.ts';
import { Site } from '../whole/site.ts';

describe('the clients of IEEE 2030.5 over REST', () => {
  let site: Site;
  afterEach(() => site.close());

  it('a client that is stopped neither polls nor walks, and says so', async () => {
    site = await Site.open({
      prepare: (opened, [lfdi = '']) => void opened.register(lfdi),
    });
    await site.advance(30);
    await site.post('csip/poll', {});
    await site.post('csip/disconnect', {});
    for (const operation of ['poll', 'rediscover']) {
      const refusal = await site.post(`csip/${operation}`, {}).catch(errorText);
      expect(refusal).to.include('409').and.include('not-connected');
    }
    await site.post('csip/connect', {});
    await site.post('csip/poll', {});
  });

  it('a change of settings that the listener for notifications refuses changes nothing', async () => {
    const taken = createServer();
    const { port } = await listen(taken, '127.0.0.1', 0);
    try {
      site = await Site.open({
        flags: ['--csip_notify_port', String(port)],
        prepare: (opened, [lfdi = '']) => void opened.register(lfdi),
      });
      await site.advance(30);
      const before = await site.get('csip/config');
      const refusal = await site.post('csip/config', { subscribe: true, post_rate_s: 7 }).catch(errorText);
      expect(refusal).to.include('409').and.include(String(port));
      expect(await site.get('csip/config')).to.deep.equal(before);
    } finally {
      taken.close();
    }
  });

  it('the host of a server is an address or a name; anything else is refused, and nothing of the request is taken', async () => {
    site = await Site.open({
      prepare: (opened, [lfdi = '']) => void opened.register(lfdi),
    });
    const before = await site.get('csip/config');
    for (const host of [
      'a b',
      'x/../y',
      'user@127.0.0.1',
      '127.0.0.1#',
      '[::1]',
      '[::ffff:169.254.169.254]',
      '1.2.3.999',
    ]) {
      const refusal = await site.post('csip/config', { server_host: host, poll_rate_s: 77 }).catch(errorText);
      expect(refusal, host).to.include('422').and.include('/server_host');
    }
    expect(await site.get('csip/config')).to.deep.equal(before);
  });

  it('an identifier of the connection point is corrected while the client runs, and sent again', async () => {
    site = await Site.open({
      types: ['PV-3Phase', 'PV-3Phase'],
      flags: ['--csip_aus', '1.2', '--csip_nmi', 'WRONG'],
      prepare(opened, lfdis) {
        for (const lfdi of lfdis) opened.register(lfdi);
        opened.trick('PUT', /cp$/, { kind: 'answer', status: 400 }, lfdis.length);
      },
    });
    const sent = () => site.headEnd.sent('PUT', /cp$/).map(({ body }) => /connectionPointId>(\w+)</.exec(body)?.[1]);
    await site.until('the first ones', 60, () => sent()[1]);
    expect(sent()).to.deep.equal(['WRONG', 'WRONG']);
    const { nmis } = await site.post('csip/config', { nmis: ['6203832652', '6203832660'] });
    expect(nmis).to.deep.equal(['6203832652', '6203832660']);
    await site.until('the corrected ones', 60, () => sent()[3]);
    expect(sent().slice(2)).to.have.members(['6203832652', '6203832660']);
    for (const wrong of [['1', '2', '3'], ['a,b'], ['']]) {
      const refusal = await site.post('csip/config', { nmis: wrong, poll_rate_s: 77 }).catch(errorText);
      expect(refusal).to.include('422').and.include('/nmis');
    }
    expect(await site.get('csip/config')).to.include({ poll_rate_s: null });
  });

  it('the XML of a control is that of the EndDevice that is asked for', async () => {
    site = await Site.open({
      types: ['PV-3Phase', 'PV-3Phase'],
      prepare(opened, lfdis) {
        for (const lfdi of lfdis) opened.register(lfdi);
      },
    });
    const program = site.headEnd.program();
    const { mRID } = site.headEnd.control(program, { modes: { opModMaxLimW: 5000 }, inS: 300, durationS: 60 });
    await site.post('csip/messages', { enabled: true });
    await site.advance(180);
    for (const device of [0, 1]) {
      const { href, xml } = await site.get(`csip/controls/${mRID}?device=${device}`);
      expect(xml)
        .to.include(mRID)
        .and.include(`href="${new URL(String(href)).pathname}"`);
    }
  });
});
