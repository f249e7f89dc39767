/** A Python that can run OpenDER: the one that is given, or a virtual environment that the bench makes once. */
import { rm } from 'node:fs/promises';
import { python } from './peers.ts';
import { inCheckout, runToEnd, succeeds } from './processes.ts';

// below node_modules, which git and linters ignore
const environment = inCheckout('node_modules/.cache/derbench-bench/opender');
const ownPython = `${environment}/bin/python`;
const requirements = inCheckout('bench/peers/opender-requirements.txt');
const installLimitS = 900;

const canImport = (interpreter: string) => succeeds(interpreter, ['-c', 'import opender']);

async function install(): Promise<void> {
  await rm(environment, { recursive: true, force: true });
  await runToEnd(python, ['-m', 'venv', environment], installLimitS);
  await runToEnd(
    ownPython,
    ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements],
    installLimitS,
  );
}

/** The interpreter, or the reason why this machine has none. */
export async function pythonWithOpender(
  progress: (text: string) => void,
): Promise<{ readonly path: string } | { readonly missing: string }> {
  for (const path of [python, ownPython]) if (await canImport(path)) return { path };
  progress('functions: installing OpenDER (once, some 300 MB with what it needs)');
  try {
    await install();
    return { path: ownPython };
  } catch (error) {
    await rm(environment, { recursive: true, force: true });
    const lines = (error instanceof Error ? error.message : String(error)).trim().split('\n');
    return { missing: `it could not be installed: ${lines.at(-1) ?? ''}` };
  }
}
