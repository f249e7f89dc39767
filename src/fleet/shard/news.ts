/** Log lines of a shard, and devices that join, leave, go dark and return, for the gateways. */
import type { Plant } from '../../contract/plant.ts';
import type { LogBook } from '../../core/log/log.ts';
import type { FleetLink, Stop } from '../link.ts';

/** Lines that stand for more than this in one second are counted, not sent. */
const maxLinesPerS = 200;

interface NewsOptions {
  readonly link: Pick<FleetLink, 'publish'>;
  readonly plant: Pick<Plant, 'onDevices' | 'onPower'>;
  readonly logBook: Pick<LogBook, 'onEntry'>;
  readonly prefix: string;
  readonly shard: string;
  readonly session: string;
  readonly monotonicMs: () => number;
}

/** @returns the end of the news */
export function publishNews({ link, plant, logBook, prefix, shard, session, monotonicMs }: NewsOptions): Stop {
  let number = 0;
  let second = 0;
  let inSecond = 0;
  const send = (topic: 'log' | 'event', news: object) => {
    link.publish(`${prefix}.${topic}.${shard}`, Buffer.from(JSON.stringify({ session, number, ...news })));
  };
  const stops = [
    logBook.onEntry((line) => {
      if (line.level === 'debug') return;
      // a receiver sees by the numbers how many lines it lacks
      number += 1;
      const thisSecond = Math.floor(monotonicMs() / 1000);
      inSecond = thisSecond === second ? inSecond + 1 : 1;
      second = thisSecond;
      if (inSecond <= maxLinesPerS) send('log', { ...line, id: undefined });
    }),
    plant.onDevices(({ added, removed }) => {
      send('event', { kind: 'devices', added: added?.index ?? null, removed: removed?.index ?? null });
    }),
    plant.onPower(({ index, down, at }) => {
      send('event', { kind: down ? 'dark' : 'back', device: index, simUs: at });
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
