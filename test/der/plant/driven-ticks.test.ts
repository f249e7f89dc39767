import { expect } from 'chai';
import { addSeconds, secondsBetween } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { failureOf } from '../../support/client.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { fleetDevices, shardsOf, shownBy } from '../../support/shards.ts';
import { HandWall } from '../../support/wall.ts';

const fleet = () =>
  shardsOf(fleetDevices(['PV-3Phase', 'Batt-3Phase', 'EVSE']), [3], { time: '08:30:00', wall: new HandWall() })[0]!;
/** Seconds from the end of the last tick. */
const ahead = (plant: SimPlant, t: number) => secondsBetween(plant.latest.sim, t as SimTime);

/** A tick of whole length whose pieces end where the plant asks for it. */
async function drive(plant: SimPlant, number?: number): Promise<void> {
  const { driven } = plant;
  const end = addSeconds(plant.latest.sim, 1.5);
  await driven.begin(byTest);
  while (driven.reached < end) await driven.advancePiece(Math.min(driven.dueUs, end) as SimTime);
  await driven.publish(number);
}

describe('a tick in pieces from outside', () => {
  it('is that of a step, with acts and limits at their instants', async () => {
    const [stepped, driven] = [fleet(), fleet()];
    for (const plant of [stepped, driven]) {
      plant.setSite({ export: 4000 }, byTest, { devices: [0, 1] });
      plant.at(addSeconds(plant.now, 2.2), () => {
        plant.setGrid({ voltagePu: 1.04 }, 1, byTest);
      });
    }
    for (let tick = 0; tick < 20; tick += 1) {
      await stepped.step(1, byTest);
      await drive(driven);
    }
    expect(shownBy([driven])).to.deep.equal(shownBy([stepped]));
    expect(driven.time).to.deep.equal(stepped.time);
    expect(driven.site).to.deep.equal(stepped.site);
    expect(driven.energy).to.deep.equal(stepped.energy);
  });

  it('asking where pieces end changes nothing: acts, whole seconds of limits and meters', async () => {
    const plant = fleet();
    expect(plant.driven.dueUs).to.be.below(Infinity, 'midnight');
    expect(ahead(plant, plant.driven.dueUs)).to.equal(15.5 * 3600);
    expect(ahead(plant, plant.driven.sharingUs)).to.equal(1);
    plant.at(addSeconds(plant.now, 0.4), () => undefined);
    expect(ahead(plant, plant.driven.dueUs)).to.equal(0.4);
    await plant.driven.begin();
    expect(await plant.driven.advancePiece(addSeconds(plant.now, 1.3))).to.equal(addSeconds(plant.now, 0.4));
    expect(ahead(plant, plant.driven.dueUs)).to.equal(15.5 * 3600);
    expect(plant.driven.isLimited).to.equal(false);
    plant.setSite({ load: 1000 }, byTest, { devices: [1] });
    expect(plant.driven.isLimited).to.equal(true);
    expect(ahead(plant, plant.driven.dueUs)).to.equal(1);
    const metered = testPlant({ meter: { float: true } });
    expect(ahead(metered, metered.driven.dueUs)).to.equal(1);
  });

  it('no device joins before its end; nothing is shown of it before, nor where nothing has advanced', async () => {
    const plant = fleet();
    const before = plant.latest;
    await plant.driven.begin();
    const removed = plant.remove(2);
    await plant.driven.advancePiece(addSeconds(plant.now, 0.7));
    expect(plant.devices).to.have.lengthOf(3);
    expect(plant.latest).to.equal(before);
    expect(ahead(plant, plant.driven.reached)).to.equal(0.7);
    expect(secondsBetween(before.sim, (await plant.driven.publish()).sim)).to.equal(0.7);
    await removed;
    const { latest } = plant;
    await plant.driven.begin();
    await plant.driven.publish();
    expect(plant.latest).to.equal(latest);
  });

  it('has the number of its slot, from that of a fleet that runs already', async () => {
    const late = testPlant({ joinsAfterTicks: 20 });
    expect(late.latest.tick).to.equal(20);
    await drive(late, 21);
    expect(late.latest.tick).to.equal(21);
    await drive(late, 25);
    expect(late.latest.published[0]?.snapshot.tick).to.equal(25);
    await drive(late, 3);
    expect(late.latest.tick, 'numbers never fall').to.equal(26);
  });

  it('a plant that joins late has the weather of the others, on the next day too', async () => {
    const evening = { types: ['Wind-T4-3Phase'], time: '23:50:00' };
    const [whole, late, own] = [
      testPlant(evening),
      testPlant({ ...evening, joinsAfterTicks: 800 }),
      testPlant(evening),
    ];
    whole.setTime({ rate: 3600 }, byTest);
    await whole.runTo(late.now);
    expect(late.surroundings(0)).to.deep.equal(whole.surroundings(0));
    expect(late.surroundings(0)).not.to.deep.equal(own.surroundings(0));
  });

  it('ticks of real time have numbers of slots too', async () => {
    const wall = new HandWall();
    const plant = testPlant({ mode: 'accelerated', wall });
    wall.advance(4500);
    await plant.tick(3, 3);
    expect(plant.latest.tick).to.equal(3);
    await plant.tick(1);
    expect(plant.latest.tick).to.equal(4);
  });

  it('is refused while the clock runs, beside another one, and behind its devices', async () => {
    const plant = fleet();
    const { driven } = plant;
    expect((await failureOf(driven.advancePiece(plant.now))).message).to.contain('no tick has begun');
    await driven.begin();
    expect((await failureOf(driven.begin())).message).to.contain('a step is under way');
    await driven.advancePiece(addSeconds(plant.now, 0.5));
    expect((await failureOf(driven.advancePiece(addSeconds(plant.now, 0.5)))).message).to.contain('have reached');
    const both = [driven.publish(), driven.publish()];
    expect((await failureOf(both[1]!)).message).to.contain('under way');
    await both[0];
    const step = plant.step(3);
    expect((await failureOf(driven.begin())).message).to.contain('a step is under way');
    await step;
    plant.setTime({ mode: 'accelerated' }, byTest);
    expect((await failureOf(driven.begin())).message).to.contain('needs it paused');
  });

  it('the end of the plant ends it', async () => {
    const plant = fleet();
    await plant.driven.begin();
    plant.end();
    await plant.betweenTicks(() => Promise.resolve());
    expect(plant.driven.isOpen).to.equal(false);
    expect((await failureOf(plant.driven.begin())).message).to.contain('stopping');
    const busy = fleet();
    await busy.driven.begin();
    const piece = busy.driven.advancePiece(addSeconds(busy.now, 1));
    busy.end();
    await failureOf(piece);
    await busy.betweenTicks(() => Promise.resolve());
  });
});
