import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { describeWith, python } from './support/peers.ts';

describeWith(['py1815'], 'the device profile document of an outstation', function () {
  this.timeout(120_000);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-profile-'));
  });
  after(() => rm(folder, { recursive: true }));

  for (const device of ['Batt-3Phase', 'PV-3Phase', 'EVSE'])
    it(`of ${device} is laid out by py1815 without a finding`, async () => {
      const bench = await Dnp3Bench.open(['-d', device]);
      const [xml, html] = [join(folder, `${device}.xml`), join(folder, `${device}.html`)];
      try {
        await writeFile(xml, (await bench.get('dnp3/device-profile')).document);
      } finally {
        await bench.close();
      }
      const program = join(dirname(python), 'py1815-der');
      const { stderr } = await promisify(execFile)(program, ['profile', '--from', xml, '--html', html]);
      expect(stderr).to.not.match(/finding|error|warning/i);
      expect(await readFile(html, 'utf8')).to.include('derbench');
    });
});
