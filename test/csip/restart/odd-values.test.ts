/** An EndDevice whose slots have values that no client writes. */
import { expect } from 'chai';
import type { Contents } from '../../../src/state/contents.ts';
import { oddContents, oddTexts } from '../../support/odd-values.ts';
import { holdsAsync } from '../../support/property.ts';
import { control, program } from '../events/scene.ts';
import { beginS, World } from './world.ts';

const isOfClient = (name: string) => name.startsWith('csip/');

const event = (mrid: string, startS: number) =>
  control(mrid, {
    modes: ['opModMaxLimW', 'opModFixedVar'],
    control: { base: { opModMaxLimW: 5000, opModFixedVar: { refType: 2, value: 1000 } }, curves: new Map() },
    startS: beginS + startS,
    durationS: 300,
    responseRequired: 3,
  });

/** Of an EndDevice with an event in force, one to come and a default control. */
async function richState(): Promise<Contents> {
  const world = new World();
  const defaultControl = {
    mrid: 'D0',
    href: null,
    description: null,
    modes: ['opModMaxLimW'] as const,
    control: { base: { opModMaxLimW: 9000 }, curves: new Map() },
  };
  world.headEnd.programs = () => [program('P', 1, [event('05', 1), event('06', 600)], { defaultControl })];
  await world.start();
  await world.second(true);
  await world.second(true);
  world.process.member.submissions.close().catch(() => undefined);
  return world.contents;
}

async function startWith(contents: Contents): Promise<World> {
  const world = new World();
  await world.startOn(contents);
  expect(world.isAlive).to.equal(true);
  await world.second(false);
  return world;
}

describe('slots of an EndDevice with odd values', () => {
  let contents: Contents;
  before(async () => {
    contents = await richState();
    const { lines, held } = await startWith(contents);
    expect(lines).to.deep.equal([]);
    expect(held['WMaxLimPct']).to.equal(50);
  });

  it('each slot is left out alone, with one warning', async () => {
    for (const name of [...contents.keys()].filter(isOfClient))
      for (const text of oddTexts) {
        const { lines, held } = await startWith(new Map(contents).set(name, [text]));
        expect(lines, `${name}: ${text}`).to.have.length(1);
        expect(lines[0]).to.include(`the kept state ${name} does not fit: `);
        const isOfEvents = name.endsWith('/events');
        expect(held['WMaxLimPctEna'], `${name}: ${text}`).to.equal(isOfEvents ? 'DISABLED' : 'ENABLED');
      }
  });

  it('an EndDevice starts with a part of a value that is odd', async function () {
    this.timeout(20_000);
    await holdsAsync(
      'odd values in slots of an EndDevice',
      [oddContents(new Map([...contents].filter(([name]) => isOfClient(name))))],
      async ({ name, texts }) => {
        const { lines } = await startWith(new Map(contents).set(name, texts));
        expect(lines.length, lines.join()).to.be.at.most(1);
      },
      { runs: 40 },
    );
  });
});
