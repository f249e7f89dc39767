/** What a restart of the simulator, and devices that join or leave, mean for a head-end. */
import { expect } from 'chai';
import { Site } from './site.ts';
import type { SiteOptions } from './site.ts';

describe('a client at a head-end: restarts and changes at run time', () => {
  let site: Site;
  const open = async (options: SiteOptions): Promise<Site> => {
    site = await Site.open(options);
    return site;
  };
  afterEach(() => site.close());

  const openWithProgram = () =>
    open({
      prepare(opened, [lfdi = '']) {
        opened.register(lfdi);
        opened.program();
      },
    });
  const limit = async () => (await site.points(704)).WMaxLimPct;

  it('a second simulator with the same store goes on with an event, and answers each step once', async () => {
    const { headEnd } = await openWithProgram();
    const [program] = headEnd.programs;
    if (program === undefined) throw new Error('no program');
    const control = headEnd.control(program, { modes: { opModMaxLimW: 5000 }, inS: 70, durationS: 400 });
    await site.responded(control, 2);
    expect(await limit()).to.equal(50);
    await site.stop();
    expect(site.timers.waiting).to.equal(0);
    await site.start();
    await site.advance(20);
    expect(await limit()).to.equal(50);
    await site.responded(control, 3, 450);
    await site.advance(100);
    expect(headEnd.statuses(control.mRID)).to.deep.equal([1, 2, 3]);
  });

  it('a second simulator with the same store sends what the first could not', async () => {
    const { headEnd } = await openWithProgram();
    const [program] = headEnd.programs;
    if (program === undefined) throw new Error('no program');
    const restore = headEnd.trick('POST', /rsp/, { kind: 'answer', status: 503 });
    const control = headEnd.control(program, { modes: { opModMaxLimW: 5000 }, inS: 70, durationS: 60 });
    await site.until('the limit', 150, async () => ((await limit()) === 50 ? true : undefined));
    await site.until('its end', 150, async () => ((await limit()) === 50 ? undefined : true));
    expect(headEnd.statuses(control.mRID)).to.deep.equal([]);
    await site.stop();
    restore();
    await site.start();
    await site.responded(control, 3);
    await site.advance(100);
    expect(headEnd.statuses(control.mRID)).to.deep.equal([1, 2, 3]);
  });

  it('a device that leaves ends its client, one that joins begins one with the certificate of its index', async () => {
    const { headEnd, lfdis } = await open({
      types: ['PV-3Phase', 'PV-3Phase'],
      spareIdentities: 1,
      prepare(opened, all) {
        for (const lfdi of all) opened.register(lfdi);
        opened.program({ default: { opModMaxLimW: 5000 } });
      },
    });
    const limited = (device: number) => async () =>
      (await site.points(704, device)).WMaxLimPct === 50 ? true : undefined;
    await site.until('the limit of the first', 60, limited(0));
    await site.until('the limit of the second', 60, limited(1));
    const state = async () => (await site.get('overview')).comm_status.csip.state;
    expect(await state()).to.equal('connected');
    await site.post('csip/disconnect?device=1', {});
    expect(await state()).to.equal('connected');
    await site.post('devices/1/remove', {});
    await site.settle();
    const { length } = headEnd.requests;
    await site.advance(200, 5);
    const seen = new Set(headEnd.requests.slice(length).map(({ lfdi }) => lfdi));
    expect([...seen]).to.deep.equal([lfdis[0]]);
    expect((await site.post('devices', {})).device_index).to.equal(2);
    await site.until('the limit of the third', 60, limited(2));
    expect((await site.get('csip-client?device=2')).lfdi).to.equal(lfdis[2]);
    // there is no certificate for one more
    const refused = await site.post('devices', {}).catch(String);
    expect(refused).to.match(/409.*device 3 has no CSIP client/s);
    expect((await site.get('devices')).devices).to.have.length(2);
  });
});
