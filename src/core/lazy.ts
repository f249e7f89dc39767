/** Values that come later than the code that uses them: made at first use, loaded on demand, or set afterwards. */
import { checkFreeDescriptors } from './errors.ts';

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

/** An object that is made after those that refer to it: the parts of a protocol, say, which are loaded at the start. */
export class Late<T extends object> {
  /** Forwards each use of a member to the object that is set at that time. */
  readonly proxy: T;
  #value: T | null;

  /** @param standIn used until `set` is called; absent: any use before that fails */
  constructor(standIn: T | null = null) {
    this.#value = standIn;
    this.proxy = new Proxy({} as T, {
      get: (_target, name) => {
        const value = this.#value;
        if (value === null) throw new Error(`${String(name)} is used before its object is set`);
        const member: unknown = Reflect.get(value, name);
        return typeof member === 'function' ? (member.bind(value) as unknown) : member;
      },
    });
  }

  set(value: T): void {
    this.#value = value;
  }
}

/** A value that is made at its first use and kept; a failure is not kept, so that the next use tries again. */
export function memo<T>(make: () => T): () => T {
  let memoized: { readonly value: T } | undefined;
  return () => (memoized ??= { value: make() }).value;
}
