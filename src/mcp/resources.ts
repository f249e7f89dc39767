/** Resources: the documents of the package, the API description, the schema of scenarios, reports of runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { packageFile } from '../core/package-files.ts';
import { descriptionText } from './description.ts';
import type { ServerContext } from './tool.ts';

const scheme = 'derbench://';

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

/** Pages of the package without their suffix, such as `how-to/agents`. */
function pages(): readonly string[] {
  return readdirSync(packageFile('docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => path.slice(0, -'.md'.length).replaceAll('\\', '/'))
    .toSorted();
}

export function listResources(): readonly Resource[] {
  return [
    { uri: `${scheme}openapi`, name: 'API description (OpenAPI, large)', mimeType: 'application/json' },
    { uri: `${scheme}scenario-schema`, name: 'JSON schema of scenarios', mimeType: 'application/schema+json' },
    ...pages().map((page) => ({ uri: `${scheme}docs/${page}`, name: page, mimeType: 'text/markdown' })),
  ];
}

/** @returns null: there is no such resource */
export async function readResource(
  uri: string,
  { url, reports }: Pick<ServerContext, 'url' | 'reports'>,
  signal: AbortSignal,
): Promise<{ readonly mimeType: string; readonly text: string } | null> {
  if (!uri.startsWith(scheme)) return null;
  const [folder = '', ...rest] = uri.slice(scheme.length).split('/');
  const name = rest.join('/');
  const report = folder === 'reports' ? reports.get(name) : undefined;
  if (report !== undefined) return { mimeType: 'application/json', text: JSON.stringify(report) };
  if (folder === 'openapi' && name === '')
    return { mimeType: 'application/json', text: await descriptionText(url, signal) };
  if (folder === 'scenario-schema' && name === '')
    return {
      mimeType: 'application/schema+json',
      text: readFileSync(packageFile('config/schema/scenario.schema.json'), 'utf8'),
    };
  // only pages of the list are read: a path of a request never reaches the file system
  if (folder !== 'docs' || !pages().includes(name)) return null;
  return { mimeType: 'text/markdown', text: readFileSync(packageFile(`docs/${name}.md`), 'utf8') };
}
