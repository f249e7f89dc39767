import { createServer } from 'node:http';
import { expect } from 'chai';
import {
  allChecks,
  checkLines,
  descriptorCheck,
  folderCheck,
  nodeCheck,
  portCheck,
  simulatorChecks,
  variableChecks,
} from '../../../src/app/cli/doctor.ts';
import { closed } from '../../support/ports.ts';
import { startApp } from '../../support/running-app.ts';

/** A server on a free port that gives one answer. */
async function answering(status: number, body: string) {
  const server = createServer((_, answer) => answer.writeHead(status).end(body));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { server, port: (server.address() as { port: number }).port };
}

const today = '2026-12-01';

describe('derbench doctor', () => {
  for (const [version, grade, text] of [
    ['18.20.0', 'bad', 'too old'],
    ['20.18.3', 'bad', 'too old'],
    ['20.19.0', 'note', 'no fixes since 2026-04-30'],
    ['24.1.0', 'ok', 'with fixes until 2028-04-30'],
    ['25.1.0', 'note', 'not one of the tested versions'],
  ] as const)
    it(`grades Node.js ${version} as ${grade}`, () => {
      const check = nodeCheck(version, today);
      expect(check.grade).to.equal(grade);
      expect(check.text).to.contain(text);
    });

  it('grades the last day of fixes as ok', () => {
    expect(nodeCheck('22.20.0', '2027-04-30').grade).to.equal('ok');
    expect(nodeCheck('22.20.0', '2027-05-01').grade).to.equal('note');
  });

  it('notes a port in use, with the flag for another one', async () => {
    const { server, port } = await answering(404, 'nothing');
    expect(await portCheck(port, '-p')).to.deep.equal({
      grade: 'note',
      name: `port ${port}`,
      text: 'it cannot be opened (EADDRINUSE). Start with -p 0 for any free port.',
    });
    await closed(server);
    expect((await portCheck(port, '-p')).grade).to.equal('ok');
  });

  it('notes a folder that cannot be written, and too few descriptors', () => {
    expect(folderCheck('/nowhere').grade).to.equal('note');
    expect(folderCheck('.').grade).to.equal('ok');
    expect(descriptorCheck(1).grade).to.equal('ok');
  });

  it('grades a variable that a start refuses as bad', () => {
    expect(variableChecks({ DERBENCH_N: '2', DERBENCH_URL: 'x' }))
      .to.have.length(1)
      .and.have.nested.property('0.grade', 'ok');
    const [first, ...more] = variableChecks({ DERBENCH_TICKS: '1' });
    expect([first?.grade, first?.name, more]).to.deep.equal(['bad', 'DERBENCH_TICKS', []]);
    expect(first?.text).to.contain('nearest known: DERBENCH_TICK');
  });

  it('checks a simulator: that it answers, for this name, with this interface, and is well', async () => {
    const { app, port } = await startApp();
    const url = `http://127.0.0.1:${port}`;
    const checks = await simulatorChecks(url);
    expect((await portCheck(port, '-wp')).text).to.match(/^a derbench answers there/);
    await app.stop();
    expect(checks.map(({ grade, name }) => [grade, name])).to.deep.equal([
      ['ok', url],
      ['ok', 'interface'],
      ['ok', 'health'],
      ['ok', 'its machine'],
      ['ok', 'simulated time'],
    ]);
    expect(checkLines(checks)[0]).to.match(/^ok {4}http:.*: derbench \S+ with 1 device$/);
    expect(await simulatorChecks(url))
      .to.have.nested.property('0.text')
      .that.matches(/^nothing answers/);
  });

  for (const [status, body, text] of [
    [421, '{}', /--allowed_host/],
    [200, 'welcome', /another program answers/],
  ] as const)
    it(`grades an answer ${status} of ${body} as bad`, async () => {
      const { server, port } = await answering(status, body);
      const url = `http://127.0.0.1:${port}`;
      const [only, ...more] = await simulatorChecks(url);
      await closed(server);
      expect([only?.grade, more]).to.deep.equal(['bad', []]);
      expect(only?.text).to.match(text);
    });

  it('has a line for each check of the machine', async () => {
    const names = (await allChecks(null, today)).map(({ name }) => name);
    expect(names).to.include.members([
      'Node.js',
      'descriptors',
      'port 8111',
      'port 8502',
      'folder',
      'CCM8',
      'time zones',
      'clock',
    ]);
  });
});
