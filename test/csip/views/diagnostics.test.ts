/** Causes that a head-end has to mend, as `csip/diagnostics` names them. */
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import type { Control } from '../head-end/model.ts';
import { Site } from '../whole/site.ts';

const uuid = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

describe('diagnostics of a client at a head-end', () => {
  let site: Site;
  let control: Control;
  beforeEach(async () => {
    site = await Site.open({ prepare: (opened, [lfdi = '']) => void opened.register(lfdi) });
    control = site.headEnd.control(site.headEnd.program(), {
      modes: { opModMaxLimW: 5000 },
      inS: 3000,
      durationS: 60,
    });
    await site.until('the control', 200, async () => (await site.get('csip/controls')).controls[0]);
  });
  afterEach(() => site.close());

  /** Without that of the simulated clock. */
  const warnings = async () =>
    ((await site.get('csip/diagnostics')).warnings as readonly Json[]).filter(({ code }) => code !== 'clock-offset');
  /** The warnings while the head-end answers in another way; afterwards there are none. */
  const whileOdd = async (path: RegExp, trick: Parameters<Site['headEnd']['trick']>[2]) => {
    expect(await warnings()).to.deep.equal([]);
    const restore = site.headEnd.trick('GET', path, trick);
    await site.post('csip/poll', {});
    await site.advance(1);
    const odd = await warnings();
    restore();
    await site.post('csip/poll', {});
    await site.advance(1);
    expect(await warnings()).to.deep.equal([]);
    return odd.map(({ code, message }) => `${code}: ${String(message).replaceAll(site.headEnd.origin, '')}`);
  };
  const rewritten = (from: RegExp | string, to: string) =>
    ({ kind: 'rewrite', change: (xml: string) => xml.replace(from, to) }) as const;

  it('a UUID as mRID', async () => {
    expect(await whileOdd(/\/derc$/, rewritten(`>${control.mRID}<`, `>${uuid}<`))).to.deep.equal([
      `mrid-not-read: DERControlList: /DERControl/0/mRID "${uuid}" is a UUID with hyphens, not hexadecimal digits alone ` +
        '(/edev/1/derp/1/derc?s=0&l=100)',
      'control-left-out: the DERControl /edev/1/derp/1/derc/1 has no readable mRID, and is left out without a response ' +
        '(/edev/1/derp/1/derc?s=0&l=100)',
    ]);
  });

  it('a program without primacy', async () => {
    expect(await whileOdd(/\/derp$/, rewritten(/<primacy>.*<\/primacy>/, ''))).to.deep.equal([
      'program-left-out: the DERProgram /edev/1/derp/1 has no readable primacy, and is left out ' +
        '(/edev/1/fsa/1/derp?s=0&l=100)',
    ]);
  });

  it('a list whose request is answered with 400', async () => {
    expect(await whileOdd(/\/derc$/, { kind: 'answer', status: 400 })).to.deep.equal([
      'list-refused: the server answers 400 to the request for DERControlList; it may not accept the query of a page, ' +
        's and l (/edev/1/derp/1/derc?s=0&l=100)',
    ]);
  });

  it('an event that was edited in place', async () => {
    expect(await whileOdd(/\/derc$/, rewritten('<opModMaxLimW>5000<', '<opModMaxLimW>4000<'))).to.deep.equal([
      `event-edited: the event ${control.mRID} has another DERControlBase than at first: an event may not change, and the ` +
        'first reading stays in force; a new event needs a new mRID',
    ]);
    expect(await whileOdd(/\/derc$/, rewritten('<duration>60<', '<duration>90<'))).to.deep.equal([
      `event-edited: the event ${control.mRID} has another interval than at first: an event may not change, and the ` +
        'first reading stays in force; a new event needs a new mRID',
    ]);
  });
});
