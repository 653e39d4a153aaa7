import { Quote } from "lucide-react";

import { SignInForm } from "@/components/sign-in-form";

export default function Page() {
  return (
    <main className="grid min-h-dvh bg-background lg:grid-cols-[1.05fr_1fr]">
      <section className="relative isolate hidden overflow-hidden border-r bg-card p-12 lg:flex lg:flex-col">
        <div
          aria-hidden="true"
          className="absolute -top-40 -left-40 -z-10 size-[40rem] rounded-full bg-primary/35 blur-[110px]"
        />
        <div
          aria-hidden="true"
          className="absolute -right-32 -bottom-40 -z-10 size-[34rem] rounded-full bg-chart-4/25 blur-[110px]"
        />
        <svg
          aria-hidden="true"
          viewBox="0 0 600 600"
          className="absolute top-1/2 left-1/2 -z-10 w-[130%] -translate-x-1/2 -translate-y-1/2 text-foreground/10"
        >
          {Array.from({ length: 11 }, (_, index) => (
            <circle
              key={index}
              cx="300"
              cy="300"
              r={40 + index * 26}
              fill="none"
              stroke="currentColor"
              strokeDasharray={index % 2 ? "2 9" : undefined}
            />
          ))}
        </svg>
        <p className="flex items-center gap-2.5 text-lg font-semibold tracking-tight">
          <span className="grid size-8 place-items-center rounded-xl bg-primary text-primary-foreground">
            <span className="size-3 rounded-full border-[3px] border-current" />
          </span>
          Orbit
        </p>
        <figure className="mt-auto max-w-lg">
          <Quote className="size-8 text-primary" />
          <blockquote className="mt-5 text-2xl leading-snug font-medium tracking-tight text-balance">
            We no longer write status reports. The work speaks for itself, and Mondays are quiet.
          </blockquote>
          <figcaption className="mt-6 text-sm text-muted-foreground">
            <span className="font-medium text-foreground">Ines Holm</span>, head of design at Fernhill
          </figcaption>
        </figure>
      </section>
      <section className="flex items-center justify-center px-6 py-14">
        <SignInForm />
      </section>
    </main>
  );
}
