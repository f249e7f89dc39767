import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { apiVersion } from '../../../src/api/http/context.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { ask } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';

const page = readFileSync(new URL('../../../docs/reference/http.md', import.meta.url), 'utf8');

function section(title: string): string {
  const [, after = ''] = page.split(`\n## ${title}\n`);
  return after.split('\n## ')[0] ?? '';
}

interface Call {
  readonly path: string;
  readonly body?: string;
}

/** The calls of a shell block: `curl -s [']ADDRESS['] [-H ...] [-d 'BODY']`. */
function callsIn(block: string): Call[] {
  return block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.startsWith('curl '))
    .map((line) => {
      const [, path = ''] = /localhost:8111([^\s']+)/.exec(line) ?? [];
      const body = /-d '([^']*)'/.exec(line)?.[1];
      return { path, ...(body !== undefined && { body }) };
    });
}

describe('docs/reference/http.md', () => {
  it('names the version of this build', () => {
    expect(page).to.include(`version ${apiVersion} `);
  });

  describe('ten calls', () => {
    let app: App;
    let port: number;

    before(async () => {
      ({ app, port } = await startApp());
    });
    after(() => app.stop());

    const steps = section('Ten calls')
      .split(/^\*\*(?=\d+\.)/m)
      .slice(1);

    it('are ten', () => {
      expect(steps).to.have.length(10);
    });

    for (const step of steps) {
      const [, title = ''] = /^(\d+\..*?)\*\*/.exec(step) ?? [];
      const [, shell = ''] = /```sh\n(.*?)```/s.exec(step) ?? [];
      const [, shown = ''] = /```text\n(.*?)```/s.exec(step) ?? [];

      it(title, async () => {
        let text = '';
        for (const { path, body } of callsIn(shell)) {
          const answer = await ask(port, path, { ...(body !== undefined && { body }) });
          expect(answer.status, answer.text).to.be.within(200, 299);
          ({ text } = answer);
        }
        const members = shown.match(/"\w+":/g) ?? [];
        expect(members).not.to.deep.equal([]);
        for (const member of members) expect(text, 'the answer shown').to.include(member);
      });
    }
  });

  describe('endpoints', () => {
    const rows = section('Endpoints')
      .split('\n')
      .filter((line) => /^\| (GET|POST)/.test(line))
      .map((line) => line.split(' | ')[0] ?? '');
    /** `GET, POST `a`, `b`; POST `c`; PATCH, DELETE `d`` */
    const parts = rows.flatMap((cell) => cell.split(';'));
    const patterns = parts.flatMap((part) => {
      const methods = part.match(/GET|POST|PATCH|DELETE/g) ?? [];
      const paths = [...part.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
      return paths.flatMap((path) => methods.map((method) => `${method} ${path}`));
    });
    const served = allRoutes.map(({ method, path }) => `${method.toUpperCase()} ${path.slice(1)}`);
    const fits = (pattern: string, name: string) =>
      pattern === name || new RegExp(`^${pattern.replaceAll(/\{(function|operation)\}/g, '[a-z-]+')}$`).test(name);

    it('has every operation', () => {
      expect(served.filter((name) => !patterns.some((pattern) => fits(pattern, name)))).to.deep.equal([]);
    });

    it('has no operation that there is not', () => {
      expect(patterns.filter((pattern) => !served.some((name) => fits(pattern, name)))).to.deep.equal([]);
    });
  });
});
