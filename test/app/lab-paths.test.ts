/** Answers to `POST config`, which name no folders of the machine. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import type { App } from '../../src/app/start-stop.ts';
import { settingKeys, settingOf } from '../../src/config/settings/settings.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import type { Json } from '../support/http.ts';
import { configOf } from '../support/configured.ts';

const device_type = 'PV-3Phase';

/** Files of the start, by a lab that names each of them. */
const originals = {
  'roof.yaml': 'config/profiles/10kW-3Phase.yaml',
  'load.csv': 'config/examples/workshop-load.csv',
  'spikes.yaml': 'config/faults/spikes.yaml',
} as const;
type Name = keyof typeof originals;

/** Contents that are wrong in different ways: syntax, structure, keys, nothing. */
const damages = ['a: [', '[]', 'nonsense: true\n', 'time_s,load_kw\n0,x\n', ''];

describe('issues of POST config', () => {
  let folder: string;
  let app: App;

  const pathOf = (name: Name) => join(folder, 'site a', name);
  const repair = () => {
    for (const name of Object.keys(originals) as Name[]) copyFileSync(originals[name], pathOf(name));
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-machine-'));
    mkdirSync(join(folder, 'site a'));
    repair();
    const [profile, load_profile, faults] = [pathOf('roof.yaml'), pathOf('load.csv'), [pathOf('spikes.yaml')]];
    const file = join(folder, 'lab.json');
    writeFileSync(
      file,
      JSON.stringify({ mb_enable: false, devices: [{ device_type, profile, load_profile, faults }] }),
    );
    const logBook = createLogBook({ write: () => undefined });
    app = createApp(configOf('--config', file, '--start_paused', 'yes'), { logBook, checkReplies: true });
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  async function issuesOf(config: object): Promise<readonly { name: string; detail: string }[]> {
    const body = { config, dry_run: true };
    const answer = await app.api.perform({ method: 'POST', path: '/config', body, by: { source: 'rest' } });
    const { errors } = answer.body as Json;
    expect(answer.status, JSON.stringify(answer.body)).to.equal(422);
    expect(JSON.stringify(answer.body)).not.to.include(folder).and.not.to.include(process.cwd());
    return errors;
  }

  const labs: Readonly<Record<Name, () => readonly object[]>> = {
    'roof.yaml': () => [{ devices: [{ device_type, profile: pathOf('roof.yaml') }] }],
    'load.csv': () => [
      { devices: [{ device_type, load_profile: pathOf('load.csv') }] },
      { devices: [{ device_type }], load_profile: pathOf('load.csv') },
      { devices: [{ device_type }], grid: { profile: pathOf('load.csv') } },
    ],
    'spikes.yaml': () => [
      { devices: [{ device_type, faults: [pathOf('spikes.yaml')] }] },
      { devices: [{ device_type }], faults: [pathOf('spikes.yaml')] },
    ],
  };

  for (const name of Object.keys(originals) as Name[])
    it(`about a damaged ${name} name it without its folders`, async () => {
      const texts: string[] = [];
      for (const damage of damages) {
        writeFileSync(pathOf(name), damage);
        for (const lab of labs[name]())
          for (const issue of await issuesOf(lab)) texts.push(`${issue.name}: ${issue.detail}`);
      }
      repair();
      expect(texts.join('\n')).to.include(`${name}: `);
    });

  it('about files of other folders name no folder of the simulator', async () => {
    for (const key of settingKeys.filter((each) => settingOf(each).kind.isFile))
      expect(await issuesOf({ devices: [{ device_type }], [key]: 'rel.pem' }), key).not.to.have.length(0);
    for (const member of ['profile', 'load_profile', 'dc_profile'])
      expect(await issuesOf({ devices: [{ device_type, [member]: './rel.yaml' }] }), member).not.to.have.length(0);
  });
});
