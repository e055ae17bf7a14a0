import type { Adding, Either, Fields, Key, Leaf, Named, Node, Rows, Table } from "./kinds.ts";

/** Whose word an entry is: what a project defines runs only in the sandbox, and after its definition was accepted. */
export interface Origin {
  readonly origin: "user" | "project";
}

type Camel<S extends string> = S extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : S;
type NameOf<K, E> = E extends { readonly as: infer A extends string } ? A : Camel<K & string>;
type IsSet<E> = E extends { readonly default: unknown } | { readonly required: true } ? true : false;
type Flat<T> = { readonly [K in keyof T]: T[K] };

/** The value of a named entry: only what is set or has a default. */
type EntryValue<F extends Fields> = Flat<
  { [K in keyof F as IsSet<F[K]> extends true ? NameOf<K, F[K]> : never]: ValueOf<F[K]["node"]> } & {
    [K in keyof F as IsSet<F[K]> extends true ? never : NameOf<K, F[K]>]?: ValueOf<F[K]["node"]>;
  }
>;

type IsGroup<E> = E extends Key<Table> | Key<Named> | Key<Either> ? true : IsSet<E>;

/** The value of a table that is always there. */
export type TopValue<F extends Fields> = Flat<
  { [K in keyof F as IsGroup<F[K]> extends true ? NameOf<K, F[K]> : never]: GroupValue<F[K]["node"]> } & {
    [K in keyof F as IsGroup<F[K]> extends true ? never : NameOf<K, F[K]>]?: ValueOf<F[K]["node"]>;
  }
>;

type GroupValue<N extends Node> = N extends Table<infer F> ? TopValue<F> : ValueOf<N>;

type ValueOf<N extends Node> =
  N extends Leaf<infer T>
    ? T
    : N extends Table<infer F>
      ? EntryValue<F>
      : N extends Named<infer O, infer HasOrigin>
        ? Readonly<Record<string, HasOrigin extends true ? Flat<ValueOf<O> & Origin> : ValueOf<O>>>
        : N extends Rows<infer F>
          ? readonly Flat<EntryValue<F> & Origin>[]
          : N extends Either<infer M>
            ? ValueOf<M>
            : N extends Adding
              ? readonly string[]
              : never;
