import { expect } from 'chai';
import { listLines, listNames, listed } from '../../../src/app/cli/lists.ts';
import { commandOf } from '../../../src/app/cli/table/commands.ts';

const textOf = (...words: readonly string[]) =>
  Object.fromEntries(listed(words).map(({ name, text }) => [name, text] as const));

describe('derbench list', () => {
  it('has a name and a text of each entry, and each list in the table of commands', () => {
    expect(commandOf('list')?.completes).to.deep.equal(listNames);
    for (const list of listNames) {
      expect(listed([list]), list).not.to.have.length(0);
      for (const { name, text } of listed([list])) expect([name, text], list).not.to.include('');
    }
  });

  it('takes titles from files, in the form that each kind of file has', () => {
    expect(textOf('profiles'))
      .to.include({ '10kW-3Phase': '10 kW three-phase PV' })
      .and.have.property('EVSE-AC-22kW-1port');
    expect(textOf('sets')).to.include({ 'slow-answers': 'Answers take 0.3 to 0.8 s' });
    expect(textOf('configs')['mixed-site']).to.match(/^A site of all six kinds/);
    expect(textOf('maps')).to.include({ 'string-inverter-basic': 'String inverter, basic' });
  });

  it('has events with their parameters, kinds of faults with their protocol', () => {
    expect(textOf('events')['sag']).to.contain('residual_pu=0.5');
    expect(textOf('faults')).to.include.keys('modbus delay', 'ocpp delay');
  });

  it('has the points of a model with access, unit and words, those of groups too', () => {
    expect(textOf('points')['701']).to.contain('DERMeasureAC');
    expect(textOf('points', '704')).to.include({ '704.WMaxLimPct': 'RW  Active power limit, share of WMax, Pct' });
    expect(textOf('points', '704')['704.WMaxLimPctEna']).to.match(/: DISABLED, ENABLED$/);
    expect(textOf('points', '705')).to.include.keys('705.Crv[0].Pt[0].V');
  });

  it('keeps to 100 columns', () => {
    for (const list of listNames) for (const line of listLines(listed([list]))) expect(line.length).to.be.at.most(100);
  });

  for (const [words, text] of [
    [['scenario'], 'did you mean scenarios?'],
    [[], 'its name is missing. Lists: scenarios, profiles'],
    [['sets', 'all'], '"all" has no meaning there. Usage: derbench list sets.'],
    [['points', '999'], 'no device serves model "999". Models: 1, 701'],
    [['points', '701', '702'], '"701 702" has no meaning there'],
  ] as const)
    it(`refuses ${JSON.stringify(words.join(' '))}`, () => {
      expect(() => listed(words)).to.throw(text);
    });
});
