/** Clients in the field find their models, read their blocks and get their limits: their requests, replayed. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { ask } from '../support/http.ts';
import { fromSource, startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { fieldClients } from './support/field-clients.ts';
import type { Run } from './support/field-clients.ts';
import { Replay } from './support/field-replay.ts';
import { skip } from './support/peers.ts';

const flagsOf = ({ device, flags = [] }: Run, layout: string): readonly string[] => [
  ...['-d', device],
  ...(layout === 'current' ? [] : ['--map_layout', layout]),
  ...flags,
];

const [program, ...args] = fromSource;
let help: string | undefined;
function isOffered(text: string): boolean {
  help ??= spawnSync(program, [...args, '--help'], { encoding: 'utf8' }).stdout;
  return help.includes(text);
}

for (const { client, runs } of fieldClients())
  describe(`requests of ${client}`, () => {
    for (const run of runs)
      for (const layout of run.layouts)
        describe(`${run.title} (${run.device}, ${layout})`, () => {
          let simulator: RunningSimulator | undefined;

          before(async function () {
            if (run.needs !== undefined && !isOffered(run.needs)) skip(this, `the simulator has no ${run.needs}`);
            simulator = await startSimulator(flagsOf(run, layout));
            const { httpPort } = simulator;
            for (const [path, body] of [
              ['time', { mode: 'paused' }],
              ['environment', { irradiance_w_m2: 1100 }],
              ['time/step', { ticks: 80 }],
            ] as const)
              expect((await ask(httpPort, `/api/sim/controls/${path}`, { body })).status, path).to.equal(200);
          });
          after(async () => {
            if (simulator) expect(await simulator.stop()).to.equal(0);
          });

          it('is answered as the client needs it', async () => {
            if (!simulator) throw new Error('there is no simulator');
            const replay = await Replay.open(simulator, run.unit ?? 1);
            try {
              await replay.run(run.steps);
            } finally {
              replay.close();
            }
          });
        });
  });
