import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import express from 'express';
import { mountAssets } from '../../../src/api/description/assets.ts';
import { readUi } from '../../../src/api/description/ui-files.ts';
import { ask } from '../../support/http.ts';

describe('files of the dashboard', () => {
  let root: string;
  let server: Server;
  let port: number;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'derbench-ui-'));
    mkdirSync(join(root, 'dist', 'assets', 'folder'), { recursive: true });
    for (const [path, text] of Object.entries({
      'secret.js': 'secret',
      'dist/index.html': '<html>',
      'dist/csip.html': '<html>',
      'dist/assets/app-AbCd1234.js': 'export {};',
      'dist/assets/app-AbCd1234.css': 'a{}',
      'dist/assets/folder/deep.js': 'deep',
    }))
      writeFileSync(join(root, path), text);
    const { assets } = readUi([pathToFileURL(`${root}/nothing/`), pathToFileURL(`${root}/dist/`)]);
    const app = express();
    mountAssets(app, () => assets, { 'Content-Security-Policy': "default-src 'self'" });
    app.use((_request, response) => {
      response.status(404).end('no such path');
    });
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  after(() => {
    server.close();
    rmSync(root, { recursive: true });
  });

  it('are those of the first folder that has a build', () => {
    const { pages, assets } = readUi([pathToFileURL(`${root}/nothing/`), pathToFileURL(`${root}/dist/`)]);
    expect([...pages.keys()]).to.have.members(['index.html', 'csip.html']);
    expect([...assets.keys()]).to.have.members(['app-AbCd1234.js', 'app-AbCd1234.css']);
    expect(readUi([pathToFileURL(`${root}/nothing/`)]).pages.size).to.equal(0);
  });

  it('are kept by browsers for good', async () => {
    for (const [name, type, text] of [
      ['app-AbCd1234.js', 'text/javascript; charset=utf-8', 'export {};'],
      ['app-AbCd1234.css', 'text/css; charset=utf-8', 'a{}'],
    ] as const) {
      const answer = await ask(port, `/assets/${name}`);
      expect([answer.status, answer.text]).to.deep.equal([200, text]);
      expect(answer.headers).to.include({
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': "default-src 'self'",
        'x-content-type-options': 'nosniff',
      });
    }
  });

  it('have a head without a body, and no other method', async () => {
    const head = await ask(port, '/assets/app-AbCd1234.js', { method: 'HEAD' });
    expect([head.status, head.headers['content-length'], head.text]).to.deep.equal([200, '10', '']);
    const post = await ask(port, '/assets/app-AbCd1234.js', { method: 'POST', body: {} });
    expect([post.status, post.headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
  });

  it('are the only ones in their folder', async () => {
    for (const path of [
      '/assets/',
      '/assets/app.js',
      '/assets/folder',
      '/assets/folder/deep.js',
      '/assets/folder%2Fdeep.js',
      '/assets/..%2Findex.html',
      '/assets/..%2F..%2Fsecret.js',
      '/assets/%2e%2e%2f%2e%2e%2fsecret.js',
      '/assets/..%5C..%5Csecret.js',
      '/assets/app-AbCd1234.js%00',
      '/assets/__proto__',
    ])
      for (const method of ['GET', 'HEAD', 'POST']) {
        const { status } = await ask(port, path, { method });
        expect(status, `${method} ${path}`).to.equal(404);
      }
  });
});
