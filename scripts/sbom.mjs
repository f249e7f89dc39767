/** The bill of materials of the package, in CycloneDX 1.6: what the bundle contains, and what is installed beside it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageFolders, packageIn } from './licences.mjs';

/** Components that are no packages; NOTICE has the terms of each. */
const data = [
  { name: 'OCPP 1.6, 2.0.1 and 2.1 JSON schemas', license: 'CC-BY-ND-4.0', url: 'https://openchargealliance.org' },
  { name: 'SunSpec model definitions', license: 'Apache-2.0', url: 'https://github.com/sunspec/models' },
];

/** Folders of the packages that npm installs with this one. */
async function productionFolders(root) {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages).flatMap(([folder, { dev }]) => (folder === '' || dev === true ? [] : [folder]));
}

/** An identifier of SPDX is one word, an expression joins several; other texts are the name of a licence. */
function licensesOf(license) {
  if (license === undefined) return [];
  if (/ (OR|AND|WITH) /.test(license)) return [{ expression: license }];
  return [{ license: /^[\w.+-]+$/.test(license) ? { id: license } : { name: license } }];
}

function packageComponent({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', 'bom-ref': purl, name, version, scope: 'required', licenses: licensesOf(license), purl };
}

function dataComponent({ name, license, url }) {
  const externalReferences = [{ type: 'website', url }];
  return { type: 'data', 'bom-ref': name, name, scope: 'required', licenses: licensesOf(license), externalReferences };
}

/** The package itself, without a `purl`: nobody has published it, and the name in the registry may be another's. */
async function subject(root) {
  const { name, version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return { type: 'application', 'bom-ref': name, name, version, licenses: licensesOf(license) };
}

/**
 * Text of the document, the same for the same packages: it has neither a time nor a serial number.
 * @param {string[]} files that the build has put into `dist/`, below `root`
 */
export async function sbomOf(files, root) {
  const folders = new Set([...packageFolders(files), ...(await productionFolders(root))]);
  const packages = await Promise.all([...folders].map((folder) => packageIn(join(root, folder))));
  // a package may lie in several folders
  const components = new Map(packages.map(packageComponent).map((component) => [component.purl, component]));
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: await subject(root) },
    components: [...[...components.keys()].sort().map((purl) => components.get(purl)), ...data.map(dataComponent)],
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}
