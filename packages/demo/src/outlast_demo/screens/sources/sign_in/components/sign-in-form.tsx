"use client";

import { useState } from "react";
import { ArrowRight, CheckCircle2, Eye, EyeOff, Fingerprint, KeyRound, LoaderCircle } from "lucide-react";

import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Separator } from "@/components/ui/separator";

type Errors = { email?: string; password?: string };
type State = "idle" | "sending" | "done";

function check(email: string, password: string): Errors {
  const errors: Errors = {};
  if (!/^\S+@\S+\.\S+$/.test(email)) errors.email = "Enter a valid email address.";
  if (password.length < 8) errors.password = "Enter at least 8 characters.";
  return errors;
}

export function SignInForm() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [shown, setShown] = useState(false);
  const [errors, setErrors] = useState<Errors>({});
  const [state, setState] = useState<State>("idle");

  function submit(event: React.FormEvent) {
    event.preventDefault();
    const found = check(email, password);
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    setState("sending");
    setTimeout(() => setState("done"), 1100);
  }

  if (state === "done") {
    return (
      <div role="status" className="w-full max-w-sm animate-in text-center duration-500 fade-in-0 zoom-in-95">
        <CheckCircle2 className="mx-auto size-12 text-chart-2" />
        <h1 className="mt-5 text-2xl font-semibold tracking-tight">Welcome back</h1>
        <p className="mt-2 text-sm text-muted-foreground">You are signed in as {email}.</p>
        <Button variant="outline" className="mt-7" onClick={() => setState("idle")}>
          Use another account
        </Button>
      </div>
    );
  }

  return (
    <div className="w-full max-w-sm">
      <h1 className="text-3xl font-semibold tracking-tight">Welcome back</h1>
      <p className="mt-2 text-sm text-muted-foreground">Sign in to pick up where you left off.</p>

      <div className="mt-8 grid grid-cols-2 gap-3">
        <Button variant="outline" size="lg" className="text-sm">
          <Fingerprint />
          Passkey
        </Button>
        <Button variant="outline" size="lg" className="text-sm">
          <KeyRound />
          Company
        </Button>
      </div>
      <div className="my-7 flex items-center gap-4 text-xs text-muted-foreground">
        <Separator className="flex-1" />
        or with your email
        <Separator className="flex-1" />
      </div>

      <form noValidate onSubmit={submit} className="grid gap-5">
        <div className="grid gap-2">
          <Label htmlFor="email">Email</Label>
          <Input
            id="email"
            type="email"
            autoComplete="email"
            placeholder="you@example.com"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            aria-invalid={errors.email ? true : undefined}
            aria-describedby={errors.email ? "email-error" : undefined}
            className="h-11"
          />
          {errors.email && (
            <p id="email-error" className="text-xs text-destructive">
              {errors.email}
            </p>
          )}
        </div>
        <div className="grid gap-2">
          <div className="flex items-center justify-between">
            <Label htmlFor="password">Password</Label>
            <a
              href="#forgot"
              className="text-xs text-muted-foreground underline-offset-4 hover:text-foreground hover:underline"
            >
              Forgotten?
            </a>
          </div>
          <div className="relative">
            <Input
              id="password"
              type={shown ? "text" : "password"}
              autoComplete="current-password"
              placeholder="At least 8 characters"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
              aria-invalid={errors.password ? true : undefined}
              aria-describedby={errors.password ? "password-error" : undefined}
              className="h-11 pr-11"
            />
            <button
              type="button"
              aria-label={shown ? "Hide password" : "Show password"}
              onClick={() => setShown(!shown)}
              className="absolute inset-y-0 right-0 grid w-11 place-items-center text-muted-foreground hover:text-foreground"
            >
              {shown ? <EyeOff className="size-4" /> : <Eye className="size-4" />}
            </button>
          </div>
          {errors.password && (
            <p id="password-error" className="text-xs text-destructive">
              {errors.password}
            </p>
          )}
        </div>
        <Label className="font-normal text-muted-foreground">
          <Checkbox defaultChecked />
          Keep me signed in on this device
        </Label>
        <Button type="submit" size="lg" disabled={state === "sending"} className="shadow-lg shadow-primary/25">
          {state === "sending" ? (
            <>
              <LoaderCircle className="animate-spin" />
              Signing in
            </>
          ) : (
            <>
              Sign in
              <ArrowRight />
            </>
          )}
        </Button>
      </form>
      <p className="mt-8 text-center text-sm text-muted-foreground">
        New here?{" "}
        <a href="#sign-up" className="font-medium text-foreground underline-offset-4 hover:underline">
          Create an account
        </a>
      </p>
    </div>
  );
}
