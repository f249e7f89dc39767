/** Devices that join, leave, go dark and return, for the timeline. */
import type { Plant } from '../../contract/plant.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';

/** @returns function that ends it */
export function tellPlant(plant: Pick<Plant, 'onDevices' | 'onPower'>, timeline: TimelineSink): () => void {
  const endDevices = plant.onDevices(({ added, removed }) => {
    const [title, verb] =
      added === null
        ? ['Device removed', 'has left']
        : removed === null
          ? ['Device added', 'has joined']
          : ['Device changed', 'was replaced'];
    const device = added ?? removed;
    if (device === null) return;
    const deviceIndex = device.index;
    timeline.add({ kind: 'device', title, text: `Device ${deviceIndex} (${device.name}) ${verb}.`, deviceIndex });
  });
  const endPower = plant.onPower(({ index: deviceIndex, down, at }) => {
    timeline.add(
      down
        ? { kind: 'service', level: 'warn', title: 'Restarts', text: 'Is off and restarts.', deviceIndex, at }
        : { kind: 'service', title: 'Is on again', text: 'Is on again after its restart.', deviceIndex, at },
    );
  });
  return () => {
    endDevices();
    endPower();
  };
}
