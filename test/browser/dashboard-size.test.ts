import { readdir, readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { filesOfFirstLoad, filesOfPage } from '../support/page-files.ts';

const built = new URL('../../dist/ui/', import.meta.url);
const kb = 1000;
const [maxFirstKb, maxChunkKb] = [170, 40];

const read = (path: string) => readFile(new URL(path === '/' ? 'index.html' : path.slice(1), built), 'utf8');
const sizeOf = async (path: string) => gzipSync(await read(path), { level: 9 }).length / kb;

describe('size of the dashboard', () => {
  it('of the first load, with the library of the first chart, stays below 170 kB', async () => {
    const paths = new Set(await filesOfFirstLoad(read));
    for (const path of await filesOfPage(read)) if (/\/uPlot|\/uplot-chart/.test(path)) paths.add(path);
    expect([...paths].filter((path) => path.includes('uplot-chart'))).to.have.lengthOf(1);
    const sizes = await Promise.all(['/', ...paths].map(sizeOf));
    expect(sizes.reduce((sum, size) => sum + size)).to.be.below(maxFirstKb);
  });

  it('of each part that is loaded later stays below 40 kB', async () => {
    const first = await filesOfFirstLoad(read);
    const later = [...(await filesOfPage(read))].filter((path) => !first.has(path));
    for (const path of later) expect(await sizeOf(path), path).to.be.below(maxChunkKb);
    expect(later).not.to.deep.equal([]);
  });

  it('has no file that nothing loads', async () => {
    const paths = await filesOfPage(read);
    const names = (await readdir(new URL('assets/', built))).map((name) => `/assets/${name}`);
    expect(names).to.have.members([...paths]);
  });
});
