import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ask } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { Command, RunningSimulator } from '../support/process.ts';
import { skip } from '../support/skip.ts';
import { carryOut, sendContext } from './support/dockerfile.ts';
import type { Stage } from './support/dockerfile.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs a command in a file system that nothing can write, as the user of an image, without capabilities. Only this process
 * and its children see the mount.
 */
function confined(user: string): Command {
  const [uid, gid] = user.split(':');
  const mounts = 'mount --make-rprivate / && mount -o remount,bind,ro /';
  const drop = `setpriv --reuid ${uid} --regid ${gid} --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs`;
  return ['unshare', '--mount', 'sh', '-c', `${mounts} && exec ${drop} "$@"`, 'sh'];
}

describe('the steps of the Dockerfile', () => {
  before(function () {
    const [program, ...args] = confined('1000:1000');
    if (spawnSync(program, [...args, process.execPath, '--version']).status !== 0)
      skip(this, 'this user may not mount a read-only root');
  });

  describe('carried out by hand', () => {
    let folder: string;
    let stage: Stage;
    let simulator: RunningSimulator;

    /** A command of the image on this machine, with this Node.js. */
    const placed = ([, ...args]: readonly string[]) => [
      process.execPath,
      ...args.map((arg) => (arg.startsWith('/') ? join(stage.root, arg) : arg)),
    ];
    const environment = (more: Readonly<Record<string, string>> = {}) =>
      Object.entries({ ...stage.environment, ...more }).map(([name, value]) => `${name}=${value}`);

    before(async function () {
      this.timeout(600_000);
      folder = mkdtempSync(join(tmpdir(), 'derbench-'));
      chmodSync(folder, 0o755);
      const context = join(folder, 'context');
      sendContext(root, context);
      const stages = join(folder, 'stages');
      mkdirSync(stages);
      stage = carryOut(readFileSync(join(root, 'Dockerfile'), 'utf8'), context, stages, { BUILD_ID: 'abcdef012345' });
      simulator = await startSimulator(
        [],
        [...confined(stage.user), 'env', ...environment(), ...placed(stage.entrypoint)],
      );
    });
    after(async () => {
      rmSync(folder, { recursive: true });
      expect(await simulator.stop()).to.equal(0);
    });

    it('a container can reach no file but the program and what it loads', () => {
      expect(readdirSync(join(stage.root, 'app')).sort()).to.deep.equal([
        'LICENSE',
        'NOTICE',
        'config',
        'dist',
        'docs',
        'node_modules',
        'package.json',
        'skills',
      ]);
      expect(readdirSync(join(stage.root, 'app/node_modules')))
        .to.include('serialport')
        .and.not.include('esbuild');
    });

    it('it starts as user 1000 without capabilities where nothing can be written', async () => {
      const status = readFileSync(`/proc/${simulator.pid}/status`, 'utf8');
      expect(status)
        .to.match(/^Uid:\t1000\t1000\t1000\t1000$/m)
        .and.match(/^NoNewPrivs:\t1$/m);
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd'])
        expect(status).to.match(new RegExp(`^${set}:\t0+$`, 'm'));
      const mounts = readFileSync(`/proc/${simulator.pid}/mounts`, 'utf8');
      expect(mounts).to.match(/^\S+ \/ \S+ ro[, ]/m);
      expect((await ask(simulator.httpPort, '/api/sim/server-info')).json.build_id).to.equal('abcdef012345');
    });

    it('it listens on all addresses, and knows no host name but those that it is given', async () => {
      expect(simulator.output).to.contain(`http://0.0.0.0:${simulator.httpPort}/`);
      expect(simulator.output).to.contain(`0.0.0.0:${simulator.modbusPort} `);
      const answer = await ask(simulator.httpPort, '/api/sim/health', { headers: { Host: 'derbench' } });
      expect(answer.status).to.equal(421);
    });

    it('its health check succeeds in silence, and fails where nothing answers', () => {
      const check = (url: string) => {
        const args = [...environment({ DERBENCH_URL: url }), ...placed(stage.healthcheck)];
        const { status, stdout } = spawnSync('env', args, { encoding: 'utf8' });
        return { status, stdout };
      };
      expect(check(`http://127.0.0.1:${simulator.httpPort}`)).to.deep.equal({ status: 0, stdout: '' });
      expect(check('http://127.0.0.1:1')).to.deep.equal({ status: 5, stdout: '' });
    });
  });
});
