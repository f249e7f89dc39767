import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { exitCodes } from '../src/core/exit-codes.ts';
import { ask } from './support/http.ts';
import { startNameServer } from './support/name-server.ts';
import { closed, occupied } from './support/ports.ts';
import { programCommand, startSimulator } from './support/process.ts';
import type { Command } from './support/process.ts';
import { skip } from './support/skip.ts';

describe('the process', () => {
  it('outlives a full disk under its log; GET logs still has the lines', async function () {
    if (!existsSync('/dev/full')) skip(this, 'this machine has no /dev/full');
    this.timeout(30_000);
    const simulator = await startSimulator([], ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh', ...programCommand]);
    try {
      const { logs } = (await ask(simulator.httpPort, '/api/sim/logs?limit=5')).json;
      expect(logs.map(({ message }: { message: string }) => message).join()).to.contain('runs with 1 device');
    } finally {
      expect(await simulator.stop()).to.equal(0);
    }
  });

  it('starts beside a Kubernetes Service named derbench, whose variables it ignores with one line', async () => {
    const variables = [
      'DERBENCH_SERVICE_HOST=10.96.0.12',
      'DERBENCH_SERVICE_PORT=8111',
      'DERBENCH_PORT=tcp://10.96.0.12:8111',
      'DERBENCH_PORT_8111_TCP=tcp://10.96.0.12:8111',
    ];
    const simulator = await startSimulator(['--log_level', 'debug'], ['env', ...variables, ...programCommand]);
    expect(await simulator.stop()).to.equal(0);
    const lines = simulator.output.split('\n').filter((line) => line.includes('DERBENCH_'));
    const names = variables.map((variable) => variable.split('=')[0]).join(', ');
    expect(lines).to.have.length(1);
    expect(lines[0])
      .to.contain(' DEBUG ')
      .and.match(new RegExp(`: ${names}$`));
  }).timeout(30_000);

  it('outlives a lack of file descriptors: it says what is short, and everything works again afterwards', async function () {
    if (!existsSync('/proc/self/fd')) skip(this, 'this machine has no /proc');
    this.timeout(60_000);
    const limit = 400;
    const simulator = await startSimulator([], ['sh', '-c', `ulimit -n ${limit}; exec "$@"`, 'sh', ...programCommand]);
    const { pid, httpPort, modbusPort } = simulator;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const requests: readonly [path: string, body?: object][] = [
      ['/api/sim/metrics'],
      ['/api/sim/sunspec-client/connect', { host: '127.0.0.1', port: modbusPort }],
      ['/api/sim/devices', { device_type: 'Wind-T3-3Phase' }],
      ['/openapi.json'],
      ['/docs/'],
    ];
    const askAll = async () => {
      const answers = [];
      for (const [path, body] of requests) answers.push(await ask(httpPort, path, { agent, body }));
      return answers;
    };
    const fillers: Socket[] = [];
    try {
      // loads REST, which needs more descriptors than its parts that come later
      await ask(httpPort, '/api/sim/server-info', { agent });
      while (readdirSync(`/proc/${pid}/fd`).length < limit) {
        const more = Array.from({ length: 50 }, () => connect(httpPort, '127.0.0.1'));
        // the last ones are closed again by a server without a descriptor
        for (const socket of more) socket.on('error', () => undefined);
        fillers.push(...more);
        await Promise.all(more.map((socket) => once(socket, 'connect')));
        await ask(httpPort, '/api/sim/health', { agent });
      }
      for (const { status, text } of await askAll()) {
        expect(status).to.equal(503);
        expect(JSON.parse(text)).to.include({ code: 'shortage' });
        expect(JSON.parse(text).detail).to.contain('too many open files');
      }
      // what one `require` loads needs few descriptors
      for (const socket of fillers.splice(0, 16)) socket.destroy();
      while (readdirSync(`/proc/${pid}/fd`).length > limit - 12) await ask(httpPort, '/api/sim/health', { agent });
      expect((await ask(httpPort, '/api/sim/metrics', { agent })).status).to.equal(200);
      expect((await ask(httpPort, '/openapi.json', { agent })).status).to.equal(503);
      for (const socket of fillers) socket.destroy();
      while (readdirSync(`/proc/${pid}/fd`).length > limit / 2) await ask(httpPort, '/api/sim/health', { agent });
      expect((await askAll()).map(({ status }) => status)).to.deep.equal([200, 200, 201, 200, 200]);
      const { text } = await ask(httpPort, '/api/sim/logs?limit=100', { agent });
      expect(text).to.contain('too many open files').and.not.contain(process.cwd());
    } finally {
      agent.destroy();
      for (const socket of fillers) socket.destroy();
      expect(await simulator.stop()).to.equal(0);
    }
  });

  it('ends with one line when there are too few file descriptors to load it', () => {
    const hooks = `export function resolve(name, context, next) {
      if (name.endsWith('/program.ts')) throw Object.assign(new Error('open /somewhere'), { code: 'EMFILE' });
      return next(name, context);
    }`;
    const asModule = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;
    const preload = `import { register } from 'node:module'; register(${JSON.stringify(asModule(hooks))});`;
    const [node, ...args] = programCommand;
    // Node.js 26 warns of `register`, for which Node.js 20 has nothing else
    const options = ['--disable-warning=DEP0205', `--import=${asModule(preload)}`];
    const { status, stderr } = spawnSync(node, [...options, ...args], { encoding: 'utf8' });
    expect(stderr).to.match(/^derbench: too many open files .*\n$/);
    expect(status).to.equal(exitCodes.internal);
  });

  it('ends with one line FATAL and exit code 1 when nothing has handled a rejection', () => {
    // the handler is there from this event on
    const preload = `process.on('newListener', (name) => {
      if (name === 'uncaughtException') setImmediate(() => Promise.reject(new Error('a fault of the program')));
    });`;
    const [node, ...args] = programCommand;
    const module = `data:text/javascript,${encodeURIComponent(preload)}`;
    const { status, stderr } = spawnSync(node, [`--import=${module}`, ...args, '--help'], { encoding: 'utf8' });
    expect(stderr).to.match(/^FATAL Error: a fault of the program \| at [^\n]*\n$/);
    expect(status).to.equal(exitCodes.internal);
  }).timeout(30_000);

  const ended = (...flags: readonly string[]) => {
    const [node, ...args] = programCommand;
    const { status, stdout, stderr } = spawnSync(node, [...args, ...flags], { encoding: 'utf8' });
    return { status, stdout, lastLine: stderr.trim().split('\n').at(-1) };
  };

  it('ends with exit code 3 for a port in use, also where other listeners are open by then', async function () {
    this.timeout(30_000);
    const { server, port } = await occupied();
    const { status, stdout, lastLine } = ended('-wp', '0', '-p', '0', '-d3', 'yes', '--dnp3_port', String(port));
    await closed(server);
    expect([status, stdout]).to.deep.equal([exitCodes.addressInUse, '']);
    expect(lastLine).to.match(new RegExp(`^derbench: DNP3 of device 0: cannot listen on 127.0.0.1:${port}: `));
  });

  it('ends with exit code 2 for two listeners on one port', () => {
    const { status, lastLine } = ended('-wp', '8502', '-p', '8502');
    expect(status).to.equal(exitCodes.usage);
    expect(lastLine).to.contain('-p: given 8502, which -wp uses; allowed: another port');
  }).timeout(30_000);

  it('ends at SIGTERM while a name server is silent', async function () {
    this.timeout(60_000);
    const server = await startNameServer();
    const preload = `
      import { Resolver } from 'node:dns/promises';
      const { resolve4 } = Resolver.prototype;
      Resolver.prototype.resolve4 = function (name) {
        this.setServers(['${server.address}']);
        return resolve4.call(this, name);
      };`;
    const [node, ...args] = programCommand;
    const command: Command = [node, `--import=data:text/javascript,${encodeURIComponent(preload)}`, ...args];
    try {
      const simulator = await startSimulator([], command);
      const asked = server.asked();
      const target = { host: 'slow.example', timeout_s: 30 };
      const answer = ask(simulator.httpPort, '/api/sim/sunspec-client/connect', { body: target });
      await asked;
      // the limit of four seconds gives 1
      expect(await simulator.stop()).to.equal(0);
      expect((await answer).json.code).to.be.oneOf(['conflict', 'stopping']);
    } finally {
      server.close();
    }
  });
});
