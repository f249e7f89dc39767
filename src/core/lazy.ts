import { checkFreeDescriptors } from './shortage.ts';

/**
 * The result of `load`, from the first call on. A failure is not kept: the next call loads again.
 *
 * Node itself keeps some failures for ever: of an `import()` that could not read one of its files, and of a `package.json`
 * that `require` could not read. So loading begins only if enough file descriptors are free. Packages in CommonJS are
 * loaded with `require` (`createRequire`): it runs in one go, so that no connection takes a descriptor meanwhile, and
 * forgets a file that it could not read.
 * @param check throws unless loading can begin
 * @throws SimError SHORTAGE, and errors of `load`
 */
export function lazily<T>(load: () => T | Promise<T>, check: () => void = checkFreeDescriptors): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  const begin = async (): Promise<T> => {
    check();
    return load();
  };
  return () => {
    loaded ??= begin().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
