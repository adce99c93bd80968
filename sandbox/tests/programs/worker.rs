//! Worker, keeper and confined programs for the tests of this crate: what `wildgym worker`,
//! `wildgym keeper` and `wildgym confine` are in the program.

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let mode = arguments.next();
    if mode.as_deref().is_some_and(|mode| mode == "confine") {
        let Some(confinement) = arguments.next().and_then(|text| text.into_string().ok()) else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let program = arguments.next();
        let rest: Vec<_> = arguments.collect();
        return wildgym_sandbox::programs::confine(&confinement, program.as_deref(), &rest);
    }
    if mode.is_some_and(|mode| mode == "keeper") {
        let (Some(errors), Some(program)) = (arguments.next(), arguments.next()) else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let rest: Vec<_> = arguments.collect();
        return wildgym_sandbox::browser::keep(errors.as_ref(), &program, &rest);
    }
    wildgym_sandbox::worker::serve()
}
