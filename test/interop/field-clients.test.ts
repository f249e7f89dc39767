/** Clients in the field find their models, read their blocks and get their limits: their requests, replayed. */
import { spawnSync } from 'node:child_process';
import { programCommand } from '../support/process.ts';
import { fieldClients } from './support/field-clients.ts';
import type { Run } from './support/field-clients.ts';
import { Replay } from './support/field-replay.ts';
import { Stage } from './support/stage.ts';
import { skip } from '../support/skip.ts';

const flagsOf = ({ device, flags = [] }: Run, layout: string): readonly string[] => [
  ...['-d', device],
  ...(layout === 'own' ? [] : ['--map_layout', layout]),
  ...flags,
];

const [program, ...args] = programCommand;
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
          let stage: Stage | undefined;

          before(async function () {
            if (run.needs !== undefined && !isOffered(run.needs)) skip(this, `the simulator has no ${run.needs}`);
            stage = await Stage.open(flagsOf(run, layout));
          });
          after(() => stage?.close(run.findings));

          it('is answered as the client needs it', async () => {
            if (!stage) throw new Error('there is no simulator');
            const replay = await Replay.open(stage, run.unit ?? 1);
            try {
              await replay.expectAnswers(run.steps);
            } finally {
              replay.close();
            }
          });
        });
  });
